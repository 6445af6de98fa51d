import { AppError } from '#shared/lib/errors.ts';

/** 413: a body that is larger than its limit, said or found to be. */
export const bodyTooLarge = (maxBytes: number) =>
  new AppError({
    reason: 'BODY_TOO_LARGE',
    publicMessage: `The body is larger than ${maxBytes} bytes. Send less in one request, and files as uploads: POST /v1/uploads.`,
    metadata: { limitBytes: String(maxBytes) },
  });

/** The client left, or its connection broke, before the body was complete: nobody reads the answer. */
const uploadBroken = (cause: unknown) =>
  new AppError({
    reason: 'BODY_INCOMPLETE',
    publicMessage: 'The body broke off. Send the request again.',
    cause,
  });

/**
 * Reads at most `maxBytes` and one chunk more; what is larger is left on the wire. Throws BODY_TOO_LARGE (413),
 * BODY_INCOMPLETE (499).
 */
export async function readBytes(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > maxBytes) throw bodyTooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof AppError ? error : uploadBroken(error);
  }
  return Buffer.concat(chunks);
}
