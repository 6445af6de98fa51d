import { ownWords } from '#shared/compaction/facts/speech/own-words.ts';
import { plainText } from '#shared/text/plain-text.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { distinctUnits } from '#shared/text/words.ts';

/** A longer message says more than yes. */
const YES_CHARACTERS = 200;
/** A question of fewer words, such as "Shall I?", asks about what stands before it. */
const PROPOSAL_UNITS = 4;

const anyOf = (...sources: readonly string[]): RegExp =>
  new RegExp(`^[\\s\\p{P}]*(?:${sources.join('|')})(?![\\p{sc=Latin}])`, 'iu');

/** Answers to a question. */
const yes = anyOf(
  String.raw`yes|yeah|yep|yup|sure|of course|ok(?:ay)?|right|please|ja|gern(?:e)?|klar|bitte|oui|d'accord|bien s[uû]r|volontiers|s[ií]|claro|vale|por favor|de acuerdo|sim|pode|por favor|sì|certo|va bene|d'accordo|好的?|可以|是的?|行|对|對|はい|ええ|うん|お願いします|네|예|응|그래|좋아`,
);
/** Words that ask to do what was proposed, whether it was a question or not. */
const doThat = anyOf(
  String.raw`(?:(?:yes|yeah|ok(?:ay)?|sure|great|good|perfect)[,.! ]{0,3})?(?:please )?(?:do (?:that|it|so|this)|go ahead|let's do (?:that|it|this)|go for it|proceed|sounds good|looks good|agreed)`,
  String.raw`(?:(?:ja|ok(?:ay)?|gut|super)[,.! ]{0,3})?(?:bitte )?(?:mach(?:e|en sie)? (?:das|es)(?: so)?|so machen wir (?:das|es)|einverstanden|leg los|passt so)`,
  String.raw`(?:(?:oui|ok|bien)[,.! ]{0,3})?(?:fais(?:-le| ça| cela)|faites(?:-le| ça| cela)|vas-y|allez-y|c'est d'accord)`,
  String.raw`(?:(?:s[ií]|ok|vale|bien)[,.! ]{0,3})?(?:hazlo|hágalo|haz eso|adelante|me parece bien)`,
  String.raw`(?:(?:sim|ok|bom)[,.! ]{0,3})?(?:faz(?: isso|-o)|faça(?: isso|-o)|pode fazer|força|combinado)`,
  String.raw`(?:(?:sì|ok|bene)[,.! ]{0,3})?(?:fallo|lo faccia|fai così|procedi|proceda|d'accordo)`,
  String.raw`(?:(?:好的?|行|可以)[,，。! ]{0,3})?(?:就这[样么](?:做|办)|就這[樣麼](?:做|辦)|照做|这么办|按(?:这|那)个?(?:做|办))`,
  String.raw`(?:(?:はい|ええ)[、。! ]{0,3})?(?:そうして|それで(?:お願い|進めて)|その通りに|進めて)`,
  String.raw`(?:(?:네|예|응)[,.! ]{0,3})?(?:그렇게 (?:해|하)|그대로 (?:해|하)|진행)`,
);

/** The last paragraphs of a text, as far back as it takes until they say something. */
function endOf(text: string): string {
  const paragraphs = text.split(/\n\s*\n/u).filter((each) => each.trim() !== '');
  let end = '';
  while (paragraphs.length > 0 && distinctUnits(end).size < PROPOSAL_UNITS)
    end = `${paragraphs.pop() ?? ''}\n\n${end}`;
  return end;
}

/**
 * What the model proposes in its own words at the end of an answer, where the user's next message begins with a yes to it:
 * what he accepts so is his wish. What the model quotes or tells of others is no proposal. '' where he accepts nothing.
 * Heuristic, in the languages in which wishes are recognised.
 */
export function acceptedIn(
  message: string,
  answered: readonly Pick<Utterance, 'speaker' | 'text'>[],
): string {
  const words = plainText(message).trim();
  if (words.length > YES_CHARACTERS) return '';
  const isOrder = doThat.test(words);
  if (!isOrder && !yes.test(words)) return '';
  const answer = answered.findLast(({ speaker }) => speaker === 'model')?.text ?? '';
  const proposal = endOf(ownWords(answer));
  return isOrder || /[?？]/u.test(proposal) ? proposal : '';
}
