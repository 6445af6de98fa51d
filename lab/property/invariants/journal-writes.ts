import {
  compactionJobPath,
  conversationPath,
  historiesCollection,
} from '#shared/conversation/documents/paths.ts';
import type { Write } from '#shared/ports/ports.ts';
import { CONVERSATION } from '../initial-state.ts';

const turnPrefix = `${conversationPath(CONVERSATION)}/turns/`;

/** What the writes of a journal are about; those of forks are none of these. */
export const isHistory = ({ path }: Write) =>
  path.startsWith(`${historiesCollection(CONVERSATION)}/`);
export const isConversation = ({ path }: Write) => path === conversationPath(CONVERSATION);
export const isJob = ({ path }: Write) => path === compactionJobPath(CONVERSATION);
export const fieldOf = (write: Write, name: string) =>
  write.op === 'delete' ? undefined : write.fields[name];

/** Of a write that takes content away for good: of a turn, or of the whole conversation. */
export const eraseTimeOf = (write: Write) =>
  fieldOf(write, 'eraseTime') ?? (fieldOf(write, 'state') === 'erasing' ? 'erasing' : undefined);

/** Of a turn itself; its overflow pieces stand below it. */
export const isTurn = ({ path }: Write) =>
  path.startsWith(turnPrefix) && !path.slice(turnPrefix.length).includes('/');

/** Makes a turn the open one: its begin, or the begin of another attempt. */
export function isOpening(write: Write, seq: number): boolean {
  const open = isConversation(write) ? fieldOf(write, 'open') : undefined;
  return typeof open === 'object' && open !== null && 'seq' in open && open.seq === seq;
}
