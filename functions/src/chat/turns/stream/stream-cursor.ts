import { AppError } from '#shared/errors.ts';
import { cursorSchema } from '#shared/wire/resources/streams.ts';

const badHeader = () =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: 'a Last-Event-ID that is no cursor',
    publicMessage:
      '`Last-Event-ID` must be the `id` of the last event that was received, a whole number. Leave it out to get the stream from its beginning.',
    metadata: { field: 'Last-Event-ID' },
  });

/**
 * After which frame a reader goes on: `?startingAfter`, else the header `Last-Event-ID` (an empty one is
 * none). Throws BAD_FIELD for a header that is no whole number.
 */
export function readCursor(request: {
  query: { startingAfter?: number | undefined };
  header: (name: string) => string | undefined;
}): number | undefined {
  if (request.query.startingAfter !== undefined) return request.query.startingAfter;
  const text = request.header('last-event-id')?.trim() ?? '';
  if (text === '') return undefined;
  const parsed = cursorSchema.safeParse(text);
  if (!parsed.success) throw badHeader();
  return parsed.data;
}
