"""Independent tasks in threads or on a cluster, and finished parts on disk."""
