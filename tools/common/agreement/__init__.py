"""How far two networks agree.

    metrics  what is computed of the outputs of both
    boxes    finds and matches what detectors see
    photos   crops of photos, for calibration and for judging
"""
