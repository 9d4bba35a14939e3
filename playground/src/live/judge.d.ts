// The types of judge.js.

export type Verdict = { phase: 'login' } | { phase: 'refused'; code?: number | string; message: string } | { phase?: undefined; seconds: number | null };

export function judge(end: unknown): Verdict;
