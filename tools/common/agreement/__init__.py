"""How far two networks agree.

    metrics  numbers computed from the outputs of both
    boxes    finds and matches what detectors see
    photos   crops of photos, for calibration and for judging
"""
