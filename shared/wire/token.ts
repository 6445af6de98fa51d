/** A value of JSON with ASCII text as one word of letters, digits, `-` and `_`. */
export const encodeToken = (value: unknown): string =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** What a token says. Anybody may have written it. Throws for what is no token. */
export const decodeToken = (token: string): unknown =>
  JSON.parse(atob(token.replaceAll('-', '+').replaceAll('_', '/')));
