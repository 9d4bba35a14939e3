// What stands in for a part that is being loaded.
export function Loading() {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}
