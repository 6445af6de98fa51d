import { contentText } from '../conversation/documents/content.ts';
import { answerId, turnId } from '../conversation/documents/paths.ts';
import type { Turn } from '../conversation/documents/turn.ts';
import type { PushNotification, Sha256 } from '../ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
import { noticeTexts } from './notice-texts.ts';
import { NOTICE_TTL_SECONDS } from './notice.ts';

/** UTF-16 units of an answer that a notification shows: what phones show of one, and little more. */
const PREVIEW_CHARACTERS = 120;
/** UTF-16 units of a title. */
const TITLE_CHARACTERS = 100;
/** APNs takes 64 bytes, web push 32 characters. */
const COLLAPSE_KEY_CHARACTERS = 32;

/** What a deployment shows of a conversation outside of the app. */
type NotificationText = 'none' | 'title' | 'preview';

/** A turn that has ended or waits, as far as a notification tells of it. */
export interface TurnToNotify {
  conversationId: string;
  seq: number;
  state: 'done' | 'failed' | 'awaiting_tool';
  /** Of one that waits: how long it will; then the notification is of no use. */
  waitsForMs?: number;
  /** Of the conversation; '' where it has none. */
  title: string;
  /** Absent where the answer is not to be shown. */
  answer?: Pick<Turn, 'contents'> | undefined;
}

const onOneLine = (text: string) => text.replaceAll(/\s+/gu, ' ').trim();

/** Cut, with an ellipsis where something is left out. */
const shortened = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${cutHead(text, maxCharacters - 1)}…`;

function bodyOf({ state, answer }: TurnToNotify, locale: string | undefined): string {
  const said = answer ? onOneLine(answer.contents.map(contentText).join(' ')) : '';
  return said === '' ? noticeTexts(locale)[state] : shortened(said, PREVIEW_CHARACTERS);
}

/**
 * What a device is told of the end of a turn, or of its pause: its title and text as the deployment allows, the sentences in the
 * language of the device, and the ids by which the app finds the answer. A newer notification of the same
 * conversation takes the place of an older one, and so does one that is sent twice.
 */
export function createNotification(
  turn: TurnToNotify,
  shown: {
    text: NotificationText;
    /** Where the conversation's is not shown. */
    fallbackTitle: string;
    locale: string | undefined;
    sha256: Sha256;
  },
): PushNotification {
  const { conversationId, seq, state } = turn;
  const { text, fallbackTitle, locale, sha256 } = shown;
  const title = text === 'none' ? '' : onOneLine(turn.title);
  const told = text === 'preview' && state === 'done' ? turn : { ...turn, answer: undefined };
  return {
    title: shortened(title === '' ? fallbackTitle : title, TITLE_CHARACTERS),
    body: bodyOf(told, locale),
    data: {
      type: state === 'awaiting_tool' ? 'turn.waiting' : 'turn.finished',
      conversationId,
      turnId: turnId(seq),
      messageId: answerId(seq),
      state,
    },
    collapseKey: sha256(conversationId).slice(0, COLLAPSE_KEY_CHARACTERS),
    ttlSeconds:
      turn.waitsForMs === undefined
        ? NOTICE_TTL_SECONDS
        : Math.min(NOTICE_TTL_SECONDS, Math.max(1, Math.ceil(turn.waitsForMs / 1_000))),
  };
}
