//! The values of every benchmark: a daily cycle, a level for each series, and noise. Whole-number arithmetic and one
//! division, so that every language computes the same bits. Depends on nothing: benchmarks include this file by path.

/// The value of a series at a step, in thousandths. `element` counts the elements of a step in row-major order (0 for
/// a scalar). Unique noise for series < 2^24, steps < 2^32, elements < 2^8.
pub fn thousandths(series: u64, step: u64, element: u64) -> u64 {
    let hour = step % 24;
    let level = 50_000 + 1_000 * (series % 97);
    let cycle = 250 * hour * (24 - hour);
    level + cycle + splitmix64(series << 40 | step << 8 | element) % 10_000
}

/// The same value as a double: the correctly rounded quotient, so the mantissa is as full as that of measured data.
pub fn value(series: u64, step: u64, element: u64) -> f64 {
    thousandths(series, step, element) as f64 / 1000.0
}

/// The output function of SplitMix64 at state `x`.
pub fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_matches_its_published_sequence() {
        // The first outputs from seed 0: the state grows by the golden-ratio constant before each.
        assert_eq!(splitmix64(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(splitmix64(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn values_are_level_cycle_and_noise() {
        let noise = 0xE220_A839_7B1D_CDAF_u64 % 10_000;
        assert_eq!(thousandths(0, 0, 0), 50_000 + noise);
        for (series, step) in [(0, 12), (96, 12), (5, 8759), (999, 4371)] {
            let hour = step % 24;
            let floor = 50_000 + 1_000 * (series % 97) + 250 * hour * (24 - hour);
            let noise = thousandths(series, step, 0) - floor;
            assert_eq!(noise, splitmix64(series << 40 | step << 8) % 10_000);
        }
    }
}
