// The types of reconnect.js.

export type ReconnectDecision = { phase: 'login' } | { phase: 'refused'; code?: number | string; message: string } | { phase?: undefined; seconds: number | null };

export function decideReconnect(end: unknown): ReconnectDecision;
