"""What the service promises, judged on networks that it has not learned from."""
