import { foldWidth } from '#shared/text/plain-text.ts';
import { sentenceSpans, type SentenceSpan } from '#shared/text/sentences.ts';

/** What an assistant does for somebody; "I want to see the sea" asks for nothing. */
const services = `book|cancel|change|modify|upgrade|return|exchange|reserve|add|remove|pay|proceed|request|update|rent|transfer|schedule|order|split|combine|use my`;
const english = new RegExp(
  [
    String.raw`^(?:(?:and|but|also|so|ok|okay|yes|no|then|hi|hello|sure)[,.]?\s){0,2}please,?\s(?!let me know|wait|come|tell me (?:more|about)|take (?:care|your time))\p{L}`,
    String.raw`\b(?:i|we)(?:'d| would)?\s(?:like|want|need|prefer)\s(?:you to|it (?:if|to be|in)|everything|all of (?:it|them)|the (?:answers?|reply|replies|result|summary))\b`,
    String.raw`\b(?:i|we)(?:'d| would)?\s(?:like|want|need|prefer|love)\sto\s(?:${services})\b`,
  ]
    .map((source) => `(?:${source})`)
    .join('|'),
  'iu',
);
const european =
  /^(?:bitte|por favor|per favore|s'il (?:te|vous) plaît),?\s\p{L}|\b(?:ich möchte|wir möchten|je voudrais|quisiera|me gustaría|gostaria|vorrei)\s(?:bitte\s)?(?:\p{L}+\s){0,6}\p{L}*(?:buchen|stornieren|ändern|umbuchen|bezahlen|réserver|annuler|modifier|payer|reservar|cancelar|cambiar|alterar|pagar|prenotare|cancellare|cambiare|pagare)(?!\p{L})/iu;
const eastern =
  /(?:^|[，。,])(?:请|請|麻烦)(?!问|問|教|等)[^？?吗嗎]{2,80}$|(?:해|하여|예약|변경|취소|알려|보내|찾아|추천해)\s?(?:주세요|줘요?|주십시오)[.!~]?$|(?:して|教えて|送って|予約して|変更して|探して)(?:ください|下さい|ほしい|欲しい)(?:です)?[。！!]?$/u;
/** More is a text that the user shows, not one that he says. */
const UTTERANCE_REQUESTS = 20;

const isRequest = (sentence: string): boolean => {
  const said = foldWidth(sentence);
  return [english, european, eastern].some((pattern) => pattern.test(said));
};

/**
 * Sentences of a user that ask for something to be done or tell how it is wanted: they matter until it is
 * done, and are no standing wishes. Heuristic for precision in English, some other languages; no questions.
 * At most 20 a text. Linear. `sentences` are those of the text.
 */
export function requestSpans(
  text: string,
  sentences: readonly SentenceSpan[] = sentenceSpans(text),
): SentenceSpan[] {
  return sentences
    .filter(({ start, end, isShown }) => {
      const sentence = isShown ? '' : text.slice(start, end);
      return sentence.length > 8 && !/[?？]\W{0,3}$/u.test(sentence) && isRequest(sentence);
    })
    .slice(0, UTTERANCE_REQUESTS);
}
