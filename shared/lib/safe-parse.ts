import { z } from 'zod';

/**
 * As `schema.safeParse`, for values that anybody may have made. zod compares the `length` of whatever has one with its
 * limit, and that of an object may be what nothing can be compared with: then it throws TypeError.
 */
export function safeParse<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  context?: { reportInput?: boolean; abortEarly?: boolean },
):
  | { success: true; data: Output; error?: undefined }
  | { success: false; data?: undefined; error: z.ZodError } {
  try {
    return schema.safeParse(value, context);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = 'has an object with a key `length` where a text or a list belongs';
    return {
      success: false,
      error: new z.ZodError([{ code: 'custom', path: [], message, input: undefined }]),
    };
  }
}

/** What does not fit, in one line for a log: names of fields, types and limits, no values. */
export const inOneLine = ({ issues }: z.ZodError): string =>
  issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
