import { contentText } from '#shared/models/content.ts';
import { answerId, turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { PushNotification, Sha256 } from '../ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
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
  const answerText = answer ? onOneLine(answer.contents.map(contentText).join(' ')) : '';
  return answerText === '' ? noticeTexts(locale)[state] : shortened(answerText, PREVIEW_CHARACTERS);
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
  const shownTurn = text === 'preview' && state === 'done' ? turn : { ...turn, answer: undefined };
  return {
    title: shortened(title === '' ? fallbackTitle : title, TITLE_CHARACTERS),
    body: bodyOf(shownTurn, locale),
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

/** Sentences that say nothing of what was said, by language. */
interface NoticeTexts {
  done: string;
  failed: string;
  /** The app has a function to run, or the user has to allow something. */
  awaiting_tool: string;
}

const en: NoticeTexts = {
  done: 'Your answer is ready.',
  failed: 'Your message could not be answered. Open the chat to try again.',
  awaiting_tool: 'Your answer waits for the app. Open the chat to go on.',
};

const textsByLanguage: ReadonlyMap<string, NoticeTexts> = new Map([
  ['en', en],
  [
    'ja',
    {
      done: '回答ができました。',
      failed: 'メッセージに回答できませんでした。チャットを開いてもう一度お試しください。',
      awaiting_tool: '回答の続きにはアプリが必要です。チャットを開いて続けてください。',
    },
  ],
  [
    'ko',
    {
      done: '답변이 준비되었습니다.',
      failed: '메시지에 답변하지 못했습니다. 채팅을 열어 다시 시도해 주세요.',
      awaiting_tool: '답변을 이어가려면 앱이 필요합니다. 채팅을 열어 계속하세요.',
    },
  ],
  [
    'zh',
    {
      done: '您的回答已准备好。',
      failed: '未能回答您的消息。请打开聊天重试。',
      awaiting_tool: '继续回答需要打开应用。请打开聊天以继续。',
    },
  ],
  [
    'de',
    {
      done: 'Die Antwort ist da.',
      failed:
        'Die Nachricht konnte nicht beantwortet werden. Öffne den Chat, um es noch einmal zu versuchen.',
      awaiting_tool: 'Die Antwort wartet auf die App. Öffne den Chat, damit es weitergeht.',
    },
  ],
  [
    'es',
    {
      done: 'Tu respuesta está lista.',
      failed: 'No se pudo responder a tu mensaje. Abre el chat para intentarlo de nuevo.',
      awaiting_tool: 'Tu respuesta espera a la aplicación. Abre el chat para continuar.',
    },
  ],
  [
    'fr',
    {
      done: 'Votre réponse est prête.',
      failed: 'Votre message est resté sans réponse. Ouvrez la discussion pour réessayer.',
      awaiting_tool: 'Votre réponse attend l’application. Ouvrez la discussion pour continuer.',
    },
  ],
  [
    'pt',
    {
      done: 'Sua resposta está pronta.',
      failed: 'Não foi possível responder à sua mensagem. Abra o chat para tentar de novo.',
      awaiting_tool: 'Sua resposta espera o aplicativo. Abra o chat para continuar.',
    },
  ],
]);

/** The sentences for a BCP 47 tag (`ko-KR`); English for languages without a translation. */
const noticeTexts = (locale: string | undefined): NoticeTexts =>
  textsByLanguage.get((locale ?? '').split(/[-_]/)[0]?.toLowerCase() ?? '') ?? en;
