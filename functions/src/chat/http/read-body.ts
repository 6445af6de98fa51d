import type { ChatDependencies } from '../chat-dependencies.ts';
import { settlesWithin } from '#functions/lib/deadline.ts';
import { bodyTooLarge, readBytes } from '#functions/lib/read-bytes.ts';
import { AppError } from '#shared/lib/errors.ts';
import { parseJsonBody } from '#shared/wire/parse-json.ts';

const notUtf8 = (cause: unknown) =>
  new AppError({
    reason: 'BAD_JSON',
    publicMessage: 'The body is not valid UTF-8. Send JSON encoded as UTF-8.',
    cause,
  });

/** The JSON of what was read. Throws BAD_JSON. */
function decodeJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw notUtf8(error);
  }
  return parseJsonBody(text);
}

/** 408: a client that drips would hold its place in the instance for as long as it likes. */
const bodyTooSlow = (timeoutMs: number) =>
  new AppError({
    reason: 'BODY_TOO_SLOW',
    publicMessage: `The body took longer than ${timeoutMs} ms. Send the request again.`,
    metadata: { limitMs: String(timeoutMs) },
  });

type BodyDependencies = Pick<ChatDependencies, 'clock'> & {
  config: Pick<ChatDependencies['config'], 'MAX_BODY_BYTES' | 'BODY_TIMEOUT_MS'>;
};

/** What arrives in time. A body that is too slow is left behind; its connection is closed by the server. */
async function readInTime(
  stream: AsyncIterable<Uint8Array>,
  { clock, config }: BodyDependencies,
): Promise<Buffer> {
  const { MAX_BODY_BYTES: maxBytes, BODY_TIMEOUT_MS: timeoutMs } = config;
  const reading = readBytes(stream, maxBytes);
  if (await settlesWithin(clock, timeoutMs, reading)) return reading;
  throw bodyTooSlow(timeoutMs);
}

/**
 * The JSON of a request. A body that says it is too large is not read at all, one that turns out to be
 * is not read on. Throws BODY_TOO_LARGE (413), ENCODING_UNSUPPORTED (415), BAD_JSON (400),
 * BODY_TOO_SLOW (408), BODY_INCOMPLETE (499).
 */
export async function readJsonBody(
  request: Request,
  dependencies: BodyDependencies,
): Promise<unknown> {
  const maxBytes = dependencies.config.MAX_BODY_BYTES;
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new AppError({
      reason: 'ENCODING_UNSUPPORTED',
      publicMessage:
        'Compressed bodies are not taken. Send the JSON as it is, without Content-Encoding.',
      metadata: { field: 'Content-Encoding' },
    });
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  if (!request.body) return {};
  return decodeJson(await readInTime(request.body, dependencies));
}
