import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopbackHost } from '../processes/refuse-foreign.ts';

/** Header in which the page shows the token of this start. */
export const SUPERVISOR_TOKEN_HEADER = 'x-recap-supervisor-token';

export interface Admission {
  /** Of this start; whoever reads the page's configuration knows it. */
  token: string;
  /** Where the supervisor listens. */
  port: number;
  /** Origins under which the page may be open. */
  pageOrigins: readonly string[];
}

interface Asked {
  host: string | undefined;
  origin: string | undefined;
  token: string | undefined;
}

/** Whether two texts are equal, in a time that does not tell how far they agree. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/**
 * Why a caller has no business here, or undefined. Absent origins are those of programs, which need the token as
 * well.
 */
export function findRefusal(
  { host, origin }: Pick<Asked, 'host' | 'origin'>,
  { port, pageOrigins }: Admission,
): string | undefined {
  if (!isLoopbackHost(host) || !host?.endsWith(`:${port}`))
    return `this is for 127.0.0.1:${port} alone, not for the host ${JSON.stringify(host ?? '')}`;
  if (origin !== undefined && !pageOrigins.includes(origin))
    return `pages of ${JSON.stringify(origin)} have no access`;
  return undefined;
}

/** The same for the token, which a preflight does not carry. */
export function findTokenRefusal(
  token: string | undefined,
  expected: Admission,
): string | undefined {
  if (token !== undefined && isSame(token, expected.token)) return undefined;
  return `the header ${SUPERVISOR_TOKEN_HEADER} must hold the token of this start (the page's /config.json has it)`;
}
