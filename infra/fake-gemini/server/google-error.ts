/** An error as Google's APIs answer it. */
export interface GoogleError {
  code: number;
  status: string;
  message: string;
  details?: readonly object[];
}

/** 400 INVALID_ARGUMENT with Google's wording. */
export function invalidArgument(message: string): GoogleError {
  return { code: 400, status: 'INVALID_ARGUMENT', message };
}

/** 404 NOT_FOUND, as for a model that the API does not have. */
export function notFound(message: string): GoogleError {
  return { code: 404, status: 'NOT_FOUND', message };
}
