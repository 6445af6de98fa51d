import { AppError } from '../../../shared/errors.ts';
import { parseJsonBody } from '../../../shared/wire/parse-json.ts';

const tooLarge = (maxBytes: number) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BODY_TOO_LARGE',
    httpStatus: 413,
    message: `a body of more than ${maxBytes} bytes was refused`,
    publicMessage: `The body is larger than ${maxBytes} bytes. Send less in one request.`,
    metadata: { limitBytes: String(maxBytes) },
  });

const encodingRefused = () =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'ENCODING_UNSUPPORTED',
    httpStatus: 415,
    message: 'a compressed body was refused',
    publicMessage:
      'Compressed bodies are not taken. Send the JSON as it is, without Content-Encoding.',
    metadata: { field: 'Content-Encoding' },
  });

const notUtf8 = (cause: unknown) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_JSON',
    message: 'a body is not UTF-8',
    publicMessage: 'The body is not valid UTF-8. Send JSON encoded as UTF-8.',
    cause,
  });

/** The client left, or its connection broke, before the body was complete: nobody reads the answer. */
const uploadBroken = (cause: unknown) =>
  new AppError({
    status: 'CANCELLED',
    reason: 'BODY_INCOMPLETE',
    message: 'a body broke off while it was read',
    publicMessage: 'The body broke off. Send the request again.',
    retryable: true,
    cause,
  });

/** Reads at most `maxBytes` and one chunk more; what is larger is left on the wire. */
async function readBytes(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof AppError ? error : uploadBroken(error);
  }
  return Buffer.concat(chunks);
}

/**
 * The JSON of a request. A body that says it is too large is not read at all, one that turns out to be
 * is not read on. Throws BODY_TOO_LARGE (413), ENCODING_UNSUPPORTED (415), BAD_JSON (400),
 * BODY_INCOMPLETE (499).
 */
export async function readJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw encodingRefused();
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (!request.body) return {};
  const bytes = await readBytes(request.body, maxBytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw notUtf8(error);
  }
  return parseJsonBody(text);
}
