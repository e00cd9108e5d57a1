"""The service's promises, judged on networks that it has not learned from."""
