import type { MessageView } from '#shared/wire/resources/messages.ts';

/** What a message says. */
export const textOfMessage = (message: MessageView | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
