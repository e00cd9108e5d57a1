"""The figures of the experiment: how often intervals hold what comes, and how wide they are."""
import math
import statistics

# The predicted quantities, with the names of the interval, of the prior's, and of the result.
QUANTITIES = {"latency": ("latency_ms", "latency_prior_ms", "mean_ms"),
              "finishing time": ("finish_seconds", "finish_prior_seconds", "seconds")}


def width(interval):
    """For an interval in the logarithm: the factor between its ends."""
    return math.log(interval["high"] / interval["low"])


def judged(jobs, quantity):
    """Coverage, widths and errors of the predictions of one quantity."""
    predicted, prior, real = QUANTITIES[quantity]
    ratios = [width(job["prediction"][predicted]) / width(job["prediction"][prior]) for job in jobs]
    held = [job["prediction"][predicted]["low"] <= job[real] <= job["prediction"][predicted]["high"] for job in jobs]
    held_prior = [job["prediction"][prior]["low"] <= job[real] <= job["prediction"][prior]["high"] for job in jobs]
    errors = [abs(math.log(job[real] / job["prediction"][predicted]["median"])) for job in jobs]
    return {"jobs": len(jobs), "coverage": sum(held) / len(jobs), "coverage_prior": sum(held_prior) / len(jobs),
            "width_ratio": statistics.median(ratios),
            "factor": math.exp(statistics.median(width(job["prediction"][predicted]) for job in jobs)),
            "factor_prior": math.exp(statistics.median(width(job["prediction"][prior]) for job in jobs)),
            "error": math.exp(statistics.median(errors)) - 1}


def table(jobs):
    """Rows of a table in Markdown."""
    lines = ["| 80 % interval of | jobs | holds the result | the prior's | median high / low | the prior's | "
             "width / prior's, median | median error |", "|---|---|---|---|---|---|---|---|"]
    for quantity in QUANTITIES:
        row = judged(jobs, quantity)
        lines.append(f"| {quantity} | {row['jobs']} | {row['coverage']:.0%} | {row['coverage_prior']:.0%} | "
                     f"{row['factor']:.2f} | {row['factor_prior']:.2f} | {row['width_ratio']:.2f} | "
                     f"{row['error']:.0%} |")
    return "\n".join(lines)
