import { createHash, verify, type KeyObject } from 'node:crypto';

/** A request as it came over the wire; header names in lower case. */
interface SignedArrival {
  method: string;
  /** Path and query, as they were written. */
  target: string;
  headers: Readonly<Record<string, string | undefined>>;
}

interface Verdict {
  status: 400 | 403;
  code: string;
  message: string;
}

const refused = (code: string, message: string, status: Verdict['status'] = 403): Verdict => ({
  status,
  code,
  message,
});

/** Seven days: the longest that Cloud Storage lets an address live. */
const LONGEST_SECONDS = 604_800;

/** `20260102T030405Z` as milliseconds, NaN for anything else. */
const timeOf = (text: string) =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

/** The parameters as they are written, without the signature, in the order of their names. */
const canonicalQuery = (query: string) =>
  query
    .split('&')
    .filter((pair) => !pair.startsWith('X-Goog-Signature='))
    .toSorted()
    .join('&');

function canonicalHash(arrival: SignedArrival, signedHeaders: readonly string[]): string {
  const [path = '', query = ''] = arrival.target.split('?');
  const headers = signedHeaders.map((name) => `${name}:${(arrival.headers[name] ?? '').trim()}\n`);
  const canonical = `${arrival.method}\n${path}\n${canonicalQuery(query)}\n${headers.join('')}\n${signedHeaders.join(';')}\nUNSIGNED-PAYLOAD`;
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}

/** Headers that Cloud Storage demands to be signed where a request has them. */
const mustBeSigned = (name: string) =>
  name === 'host' || name === 'content-type' || name.startsWith('x-goog-');

/**
 * Judges an address with a V4 signature as Cloud Storage does: from the request alone, by its own canonical form,
 * with the public key. undefined: it is good.
 */
export function findRefusal(
  arrival: SignedArrival,
  { publicKey, now }: { publicKey: KeyObject; now: Date },
): Verdict | undefined {
  const query = new URL(arrival.target, 'http://storage').searchParams;
  const value = (name: string) => query.get(`X-Goog-${name}`) ?? '';
  const signature = value('Signature');
  if (signature === '') return refused('AccessDenied', 'Anonymous caller has no access.');
  if (value('Algorithm') !== 'GOOG4-RSA-SHA256')
    return refused('InvalidArgument', 'Unknown algorithm.', 400);
  const [startMs, seconds] = [timeOf(value('Date')), Number(value('Expires'))];
  if (Number.isNaN(startMs) || !(seconds > 0 && seconds <= LONGEST_SECONDS))
    return refused('InvalidArgument', 'Invalid date or expiration.', 400);
  if (now.getTime() > startMs + seconds * 1_000)
    return refused('ExpiredToken', 'The provided token has expired.', 400);
  const signedHeaders = value('SignedHeaders').split(';');
  const missing = Object.keys(arrival.headers).filter(
    (name) => mustBeSigned(name) && !signedHeaders.includes(name),
  );
  if (missing.length > 0)
    return refused(
      'MalformedSecurityHeader',
      `Header was included, but not signed: ${missing.join(', ')}`,
      400,
    );
  const scope = value('Credential').split('/').slice(1).join('/');
  const stringToSign = `GOOG4-RSA-SHA256\n${value('Date')}\n${scope}\n${canonicalHash(arrival, signedHeaders)}`;
  const isGood = verify(
    'sha256',
    Buffer.from(stringToSign, 'utf8'),
    publicKey,
    Buffer.from(signature, 'hex'),
  );
  return isGood
    ? undefined
    : refused('SignatureDoesNotMatch', 'The request signature we calculated does not match.');
}
