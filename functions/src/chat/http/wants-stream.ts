/** Whether the caller asks for an event stream, by its Accept header. */
export const wantsStream = (accept: string | undefined): boolean =>
  accept?.toLowerCase().includes('text/event-stream') ?? false;
