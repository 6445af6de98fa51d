import { AppError } from '#shared/errors.ts';
import type { FileBucket } from '#shared/ports/file-ports.ts';
import { FILES_MAX_BYTES } from '#shared/uploads/limits.ts';

/** One body for unknown and other people's uploads, and for what was never sent: an id must tell nothing. */
export const uploadNotFound = (uploadId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'UPLOAD_NOT_FOUND',
    message: `no upload ${uploadId} for this caller`,
    publicMessage:
      'You have no uploaded file under this id. Check the id, and PUT the bytes to the address that POST /v1/uploads gave; a file that no message names expires after a day.',
    metadata: { uploadId },
  });

const uploadsOff = () =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'UPLOADS_OFF',
    message: 'an upload was asked for, and there is no UPLOADS_BUCKET',
    publicMessage:
      'This deployment takes no uploads: its operator has not set UPLOADS_BUCKET. Small files can be sent as `data`.',
  });

/** The bucket. Throws UPLOADS_OFF where there is none. */
export function requireBucket({ files }: { files?: FileBucket | undefined }): FileBucket {
  if (!files) throw uploadsOff();
  return files;
}

export const typeMismatch = (uploadId: string, declared: { mimeType: string; sizeBytes: number }) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'UPLOAD_TYPE_MISMATCH',
    message: `upload ${uploadId} is no ${declared.mimeType} of ${declared.sizeBytes} bytes`,
    publicMessage: `The uploaded file is not what was declared: ${declared.mimeType} of ${declared.sizeBytes} bytes. Upload it again with its own media type and size.`,
    metadata: { uploadId, mimeType: declared.mimeType },
  });

export const filesTooLarge = (sizeBytes: number) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'FILES_TOO_LARGE',
    message: `uploads of ${sizeBytes} bytes in one message refused, limit ${FILES_MAX_BYTES}`,
    publicMessage: `The uploads of the message have ${sizeBytes} bytes together; the limit is ${FILES_MAX_BYTES}. Send fewer in one message.`,
    metadata: { sizeBytes: String(sizeBytes), limitBytes: String(FILES_MAX_BYTES) },
  });

export const tooManyUploads = (limit: number, { now, resetTime }: { now: Date; resetTime: Date }) =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'USER_DAILY_UPLOADS',
    message: `an upload refused, limit ${limit} a day`,
    publicMessage: `${limit} uploads may be begun in a day (UTC). Go on tomorrow.`,
    retryable: true,
    retryAfterMs: resetTime.getTime() - now.getTime(),
    metadata: { limit: String(limit), resetTime: resetTime.toISOString() },
  });
