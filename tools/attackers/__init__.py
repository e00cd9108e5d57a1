"""Programs that kill, flood and deceive what Attune runs, and check that nothing is lost and that others are served."""
