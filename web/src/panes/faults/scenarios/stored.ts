import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { Bench } from '../bench.ts';

/** More turns than any fault makes. */
const PAGE_SIZE = 50;

export const messageText = ({ parts }: Pick<MessageView, 'parts'>): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The transcript as it is stored. */
export const storedMessages = async ({ api }: Bench): Promise<MessageView[]> =>
  (await api.messages(0, PAGE_SIZE)).messages;

export const countTurns = (messages: readonly MessageView[]): number =>
  new Set(messages.map(({ seq }) => seq)).size;

export const findAnswer = (
  messages: readonly MessageView[],
  seq: number,
): MessageView | undefined =>
  messages.find((message) => message.seq === seq && message.role === 'model');
