import { AppError } from '../../../../shared/errors.ts';
import { bodyTooLarge, readBytes } from '../../read-bytes.ts';
import { parseJsonBody } from '../../../../shared/wire/parse-json.ts';

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

/**
 * The JSON of a request. A body that says it is too large is not read at all, one that turns out to be
 * is not read on. Throws BODY_TOO_LARGE (413), ENCODING_UNSUPPORTED (415), BAD_JSON (400),
 * BODY_INCOMPLETE (499).
 */
export async function readJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw encodingRefused();
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
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
