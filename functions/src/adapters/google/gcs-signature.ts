import { createHash } from 'node:crypto';

/** A request as it is signed by Cloud Storage's V4 process, for addresses that carry their signature. */
export interface RequestToSign {
  method: 'GET' | 'PUT';
  /** With `https://`, without a slash at the end. */
  baseUrl: string;
  bucket: string;
  /** Name of the object. */
  path: string;
  /** Headers that the request must have, beside `host`; names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Other parameters of the address. */
  query?: Readonly<Record<string, string>>;
  /** E-mail of the account whose key signs. */
  signer: string;
  expiresSeconds: number;
  now: Date;
}

interface SigningForm {
  /** What is signed with RSA and SHA-256. */
  stringToSign: string;
  /** The address, whose signature is still missing. */
  urlWith: (signatureHex: string) => string;
}

const ALGORITHM = 'GOOG4-RSA-SHA256';

/** RFC 3986: everything but unreserved characters, as the signature demands. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : 1);

const queryOf = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

/** The path of an object's address: its slashes separate, all else is encoded. */
const objectAddress = (bucket: string, path: string): string =>
  `/${[bucket, ...path.split('/')].map(encoded).join('/')}`;

/** `20260102T030405Z` */
const compactTime = (time: Date) => time.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');

/**
 * The V4 signing process of Cloud Storage (docs: "Canonical requests", "Signatures"): a canonical form of the
 * request, hashed, with algorithm, time and scope before it.
 */
export function signingForm(request: RequestToSign): SigningForm {
  const { baseUrl, signer, now } = request;
  const address = objectAddress(request.bucket, request.path);
  const headers = Object.entries({ ...request.headers, host: new URL(baseUrl).host }).toSorted(
    byName,
  );
  const signedHeaders = headers.map(([name]) => name).join(';');
  const time = compactTime(now);
  const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const query = queryOf({
    ...request.query,
    'X-Goog-Algorithm': ALGORITHM,
    'X-Goog-Credential': `${signer}/${scope}`,
    'X-Goog-Date': time,
    'X-Goog-Expires': String(request.expiresSeconds),
    'X-Goog-SignedHeaders': signedHeaders,
  });
  const canonical = [
    request.method,
    address,
    query,
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signedHeaders,
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const hash = createHash('sha256').update(canonical, 'utf8').digest('hex');
  return {
    stringToSign: [ALGORITHM, time, scope, hash].join('\n'),
    urlWith: (signatureHex) => `${baseUrl}${address}?${query}&X-Goog-Signature=${signatureHex}`,
  };
}
