//! Plots of the growth of costs.

use super::growth::Line;
use plotters::prelude::*;
use std::path::Path;

const COLOURS: [RGBColor; 2] = [RGBColor(31, 119, 180), RGBColor(214, 99, 24)];

/// Draws four plots in one image: CPU time of a request by the amount of data, on a logarithmic scale.
pub(crate) fn draw(path: &Path, lines: &[Line]) {
    let area = SVGBackend::new(path, (960, 640)).into_drawing_area();
    area.fill(&WHITE).expect("it is drawn");
    let panels = area.split_evenly((2, 2));
    let mut names: Vec<&str> = lines.iter().map(|line| line.of).collect();
    names.dedup();
    for (panel, name) in panels.iter().zip(names) {
        let lines: Vec<&Line> = lines.iter().filter(|line| line.of == name).collect();
        panel_of(panel, name, &lines);
    }
    area.present().expect("it is written");
}

fn panel_of(panel: &DrawingArea<SVGBackend, plotters::coord::Shift>, name: &str, lines: &[&Line]) {
    // A logarithmic scale has no zero: zero is drawn at 1.
    let place = |many: usize| many.max(1) as f64;
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|(_, cost)| cost.cpu()).fold(0.0, f64::max) * 1.2;
    let (first, last) = points().fold((f64::MAX, 0.0_f64), |(a, b), (many, _)| (a.min(place(*many)), b.max(place(*many))));
    let mut chart = ChartBuilder::on(panel)
        .caption(name, ("sans-serif", 18))
        .margin(10)
        .margin_right(30)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d((first..last).log_scale(), 0.0..most)
        .expect("a drawing");
    let label = |number: &f64| format!("{number:.0}");
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .y_desc("CPU µs per request, server and Redis")
        .draw()
        .expect("it is drawn");
    for (line, colour) in lines.iter().zip(COLOURS) {
        let points: Vec<(f64, f64)> = line.points.iter().map(|(many, cost)| (place(*many), cost.cpu())).collect();
        let drawn = chart.draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(4)).expect("it is drawn");
        drawn.label(line.what).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    let legend = chart.configure_series_labels();
    // Between the lines with and without the cache, and where few subscribe.
    { legend }.position(SeriesLabelPosition::MiddleLeft).background_style(WHITE.mix(0.8)).draw().expect("it is drawn");
}
