//! How much memory a sample takes while it is made, beside the sample itself.

use crate::epochs::Case;
use crate::support::{peak_rss, reset_peak_rss, resident, timed};
use forcings::provider::Provider;
use forcings::Result;
use serde_json::json;
use std::path::Path;

/// How many times its own size a sample may take.
const GOAL: f64 = 1.3;

/// The most that the process grew by while a sample of the case was made, and the sample's size.
///
/// # Errors
/// Those of the files.
pub(crate) fn measure(case: &Case, data: &Path) -> Result<()> {
    let before = resident();
    for threads in [1, 2] {
        let provider = Provider::open(case.options(&case.files(data)?, case.window, threads))?;
        let t = provider.refresh_times()[0];
        reset_peak_rss();
        let (seconds, sample) = timed(|| provider.sample_at(t))?;
        let (Some(before), Some(peak)) = (before, peak_rss()) else { return Ok(()) };
        let row = json!({
            "area": "providers", "row": format!("peak memory of a sample, {threads} thread(s), {}", case.title),
            "ours_s": null, "peer": null, "peer_s": null, "bound_s": null, "goal_ratio_peer": null,
            "goal_ratio_bound": GOAL, "ours_bytes": peak.saturating_sub(before), "bound_bytes": sample.byte_len(),
            "decode_s": seconds,
        });
        println!("{row}");
    }
    Ok(())
}
