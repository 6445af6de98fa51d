import type { ModelStreamer } from '#shared/ports/ports.ts';

export const LONG_ENOUGH_FOR_A_TITLE = 'A long answer about boats. '.repeat(20);

/** A model whose answer ends when the client has heard of the title of its conversation. */
export function titlingStreamer() {
  const heard = Promise.withResolvers<void>();
  const model: ModelStreamer = {
    async *stream({ role }) {
      if (role === 'utility_title') {
        yield { parts: [{ text: 'Boats' }], finishReason: 'STOP' };
        return;
      }
      yield { parts: [{ text: LONG_ENOUGH_FOR_A_TITLE }] };
      await heard.promise;
      yield { parts: [{ text: 'End.' }], finishReason: 'STOP' };
    },
  };
  const hear = ({ type }: { type: string }) => {
    if (type === 'data-title') heard.resolve();
  };
  return { model, hear };
}
