/** Whether the caller asks for an event stream, by its Accept header. */
export const wantsStream = (accept: string | undefined): boolean =>
  accept?.toLowerCase().includes('text/event-stream') ?? false;

/** The caller's first language (`ko-KR` of `ko-KR,ko;q=0.9`), or undefined. */
export const preferredLocale = (acceptLanguage: string | undefined): string | undefined =>
  /^\s*([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)/.exec(acceptLanguage ?? '')?.[1];

/** Answers belong to one user: no cache keeps them, and nothing is guessed from their bytes. */
export const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Headers of every event stream: no cache and no proxy may hold it back or compress it. */
export const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;
