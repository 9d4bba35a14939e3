// The placeholder of a route that is being loaded.
export function Loading() {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}
