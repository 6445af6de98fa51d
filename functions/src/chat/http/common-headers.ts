/** Answers belong to one user: no cache keeps them, and nothing is guessed from their bytes. */
export const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
