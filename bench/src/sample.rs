//! Turns and medians.

use std::time::{Duration, Instant};

/// Something that takes a turn; the time it reports is what is measured, in seconds.
pub(crate) type Side<'a> = &'a mut dyn FnMut() -> f64;

/// Runs the sides by turns, A B A B …, so that whatever else the machine does falls on all of them; gives
/// each side's median.
///
/// There are `turns` rounds, or as many as fit into `patience`, but not less than three. The order
/// is turned round with each round, so that no side always comes after the same one.
pub(crate) fn by_turns<const N: usize>(
    turns: usize,
    patience: Duration,
    sides: [Side<'_>; N],
) -> [f64; N] {
    let mut sides = sides.map(|side| (side, Vec::new()));
    let begun = Instant::now();
    for round in 0..turns.max(3) {
        if round >= 3 && begun.elapsed() > patience {
            break;
        }
        for step in 0..N {
            let place = if round % 2 == 0 { step } else { N - 1 - step };
            let (side, samples) = &mut sides[place];
            samples.push(side());
        }
    }
    sides.map(|(_, mut samples)| median(&mut samples))
}

/// How long it takes, in seconds.
pub(crate) fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

/// The middle one, or between the middle two.
pub(crate) fn median(samples: &mut [f64]) -> f64 {
    assert!(!samples.is_empty(), "nothing was measured");
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 {
        samples[middle]
    } else {
        f64::midpoint(samples[middle - 1], samples[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert!((median(&mut [9.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&mut [9.0, 1.0, 2.0, 4.0]) - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn sides_take_turns_and_the_order_alternates() {
        let order = std::cell::RefCell::new(String::new());
        let [a, b] = by_turns(
            4,
            Duration::from_mins(1),
            [
                &mut || {
                    order.borrow_mut().push('a');
                    1.0
                },
                &mut || {
                    order.borrow_mut().push('b');
                    2.0
                },
            ],
        );
        assert_eq!(order.into_inner(), "abbaabba");
        assert!((b - 2.0 * a).abs() < f64::EPSILON);
    }
}
