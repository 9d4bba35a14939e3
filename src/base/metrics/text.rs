//! Converts the OpenMetrics text format, which the library writes, to the Prometheus text format 0.0.4.
//!
//! | | OpenMetrics | 0.0.4 |
//! |---|---|---|
//! | a counter's family | `requests`, its samples `requests_total` | `requests_total` |
//! | an info's family | `build`, its sample `build_info` | `build_info`, a gauge |
//! | an unknown type | `unknown` | `untyped` |
//! | quotes in a help text | escaped | as they are |
//! | unit, end, exemplars | `# UNIT`, `# EOF`, `# {…} …` after a sample | none |
//! | a sample's time | seconds | milliseconds |

/// Converts metrics to the text format 0.0.4.
pub fn to_prometheus(openmetrics: &str) -> String {
    let mut text = String::with_capacity(openmetrics.len());
    // The help of a family comes before its type, which determines the name.
    let mut help = None;
    for line in openmetrics.lines() {
        match line.strip_prefix("# ").map(|line| line.split_once(' ').unwrap_or((line, ""))) {
            Some(("HELP", rest)) => help = rest.split_once(' '),
            Some(("TYPE", rest)) => write_family(&mut text, rest, help.take()),
            Some(_) => {}
            None => write_sample(&mut text, line),
        }
    }
    text
}

/// Writes the declaration of a family. `declared` is its name and its type.
fn write_family(text: &mut String, declared: &str, help: Option<(&str, &str)>) {
    let (name, kind) = declared.split_once(' ').unwrap_or((declared, "unknown"));
    let (suffix, kind) = match kind {
        "counter" => ("_total", "counter"),
        "info" => ("_info", "gauge"),
        "stateset" => ("", "gauge"),
        "histogram" | "summary" | "gauge" => ("", kind),
        _ => ("", "untyped"),
    };
    if let Some((help_name, help)) = help
        && help_name == name
    {
        *text += &format!("# HELP {name}{suffix} {}\n", help.replace("\\\"", "\""));
    }
    *text += &format!("# TYPE {name}{suffix} {kind}\n");
}

/// Writes a sample: its series, its value, and its time if there is one.
fn write_sample(text: &mut String, line: &str) {
    let (series, rest) = line.split_at(end_of_series(line));
    let mut words = rest.split(" # ").next().unwrap_or_default().split_whitespace();
    let Some(value) = words.next() else { return };
    *text += &format!("{series} {value}");
    if let Some(seconds) = words.next().and_then(|time| time.parse::<f64>().ok()) {
        *text += &format!(" {}", (seconds * 1_000.0).round() as i64);
    }
    text.push('\n');
}

/// The end of a sample's name and labels. A label value may contain any character; quotes are escaped by a backslash.
fn end_of_series(line: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b' ' if !is_quoted => return at,
            _ => {}
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_differences_of_the_formats_are_converted() {
        let openmetrics = r##"# HELP a_seconds Time of \"a\" and b\\c.
# TYPE a_seconds histogram
# UNIT a_seconds seconds
a_seconds_bucket{le="0.1",path="x \" # {y} 1"} 8 1520879607.789 # {id="KO# 1"} 0.67 1520879607.789
a_seconds_bucket{le="+Inf"} 17
a_seconds_sum 324789.3 1520430000.123
a_seconds_count 17
# TYPE b counter
# HELP b After its type.
b_total{x="\\"} 3 # {} 1
b_total 1e3
# HELP c Info.
# TYPE c info
c_info{version="1"} 1
# TYPE d unknown
d -1
# TYPE e gaugehistogram
# TYPE f stateset
f{f="on"} 1
# HELP g Gauge.
# TYPE g gauge
g NaN
# EOF
"##;
        let expected = r##"# HELP a_seconds Time of "a" and b\\c.
# TYPE a_seconds histogram
a_seconds_bucket{le="0.1",path="x \" # {y} 1"} 8 1520879607789
a_seconds_bucket{le="+Inf"} 17
a_seconds_sum 324789.3 1520430000123
a_seconds_count 17
# TYPE b_total counter
b_total{x="\\"} 3
b_total 1e3
# HELP c_info Info.
# TYPE c_info gauge
c_info{version="1"} 1
# TYPE d untyped
d -1
# TYPE e untyped
# TYPE f gauge
f{f="on"} 1
# HELP g Gauge.
# TYPE g gauge
g NaN
"##;
        assert_eq!(to_prometheus(openmetrics), expected);
    }
}
