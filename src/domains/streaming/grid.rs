//! Grids over the earth. The index finds boxes by their cells.

use super::model::BoundingBox;
use std::collections::BTreeSet;

/// The sides of the cells of each grid, in degrees. A box uses the finest grid in which it has few cells.
const CELL_DEGREES: [f64; 4] = [0.5, 5.0, 45.0, 360.0];
/// Maximum number of cells of a box.
const MAX_CELLS: usize = 64;

fn cell(degrees: f64, side: f64) -> i32 {
    (degrees / side).floor() as i32
}

/// A cell of a grid as a term. Rows and columns are at most 360 away from 0.
const fn cell_term(grid: usize, row: i32, column: i32) -> u64 {
    ((grid as u64) << 32) | (((row + 0x4000) as u64) << 16) | (column + 0x4000) as u64
}

/// The terms of the cells that contain a location (latitude, longitude), one for each grid.
pub(super) fn cells_at((latitude, longitude): (f64, f64)) -> impl Iterator<Item = u64> {
    CELL_DEGREES.into_iter().enumerate().map(move |(grid, side)| cell_term(grid, cell(latitude, side), cell(longitude, side)))
}

/// The terms of the cells of a box, in the finest grid where they are few.
pub(super) fn cells_of(area: &BoundingBox) -> BTreeSet<u64> {
    // A box that crosses the antimeridian has two parts. Longitudes -180 and 180 are the same meridian.
    let mut parts =
        if area.west <= area.east { vec![(area.west, area.east)] } else { vec![(area.west, 180.0), (-180.0, area.east)] };
    if area.west == -180.0 || area.east == 180.0 {
        parts.extend([(180.0, 180.0), (-180.0, -180.0)]);
    }
    let (south, north) = (area.south, area.north);
    let count = |side: f64| {
        let wide: i64 = parts.iter().map(|(west, east)| i64::from(cell(*east, side) - cell(*west, side) + 1)).sum();
        wide * i64::from(cell(north, side) - cell(south, side) + 1)
    };
    let grid = CELL_DEGREES.iter().position(|side| count(*side) <= MAX_CELLS as i64).unwrap_or(CELL_DEGREES.len() - 1);
    let side = CELL_DEGREES[grid];
    let columns = parts.into_iter().flat_map(|(west, east)| cell(west, side)..=cell(east, side));
    columns.flat_map(|column| (cell(south, side)..=cell(north, side)).map(move |row| cell_term(grid, row, column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_location_in_a_box_is_in_one_of_its_cells() {
        let area = |west, south, east, north| BoundingBox { west, south, east, north };
        for (area, locations) in [
            (area(-0.5, 51.0, 0.5, 52.0), vec![(51.0, -0.5), (52.0, 0.5), (51.5, 0.0)]),
            (area(170.0, -20.0, -170.0, 20.0), vec![(0.0, 180.0), (0.0, -180.0), (20.0, -170.0), (-20.0, 170.0)]),
            (area(-180.0, -90.0, 180.0, 90.0), vec![(-90.0, -180.0), (90.0, 180.0), (0.0, 0.0)]),
            (area(0.125, 51.5, 0.125, 51.5), vec![(51.5, 0.125)]),
        ] {
            let cells = cells_of(&area);
            assert!(cells.len() <= MAX_CELLS, "{area:?}: {}", cells.len());
            for location in locations {
                assert!(
                    area.contains(location) && cells_at(location).any(|cell| cells.contains(&cell)),
                    "{location:?} in {area:?}"
                );
            }
        }
    }
}
