/** Why a message with uploads may be refused, beside what refuses any message. */
export const UPLOAD_ERRORS = [
  'UPLOADS_OFF',
  'UPLOAD_NOT_FOUND',
  'UPLOAD_TYPE_MISMATCH',
  'FILES_TOO_LARGE',
  'FILES_UNAVAILABLE',
] as const;
