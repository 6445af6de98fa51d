import { contentWords } from '#shared/compaction/facts/speech/content-words.ts';
import { ownWords } from '../speech/own-words.ts';
import { foldWidth, isAscii } from '#shared/text/plain-text.ts';
import { sentenceSpans } from '#shared/text/sentences.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';

/** Words that end what was wanted, whatever that was. */
const ending = new RegExp(
  [
    String.raw`\bforget (?:about|the|my|all|what i said about)\b|\bno longer\b|\b(?:not|n't)\b.{1,60}\bany ?(?:more|longer)\b`,
    String.raw`\byou (?:can|may|are allowed to)\b.{1,60}\b(?:again|now|after all)\b|\b(?:is|are) (?:fine|ok|okay|allowed) (?:again|now|after all)\b|\bchanged my mind\b`,
    String.raw`\b(?:scratch|drop|lift|cancel|undo) (?:the|that|my)\b.{0,60}\b(?:rule|wish|limit|restriction|ban|requirement|thing)\b`,
    String.raw`\b(?:vergiss|vergesst|vergessen sie)\b.{0,10}\b(?:mit|die|den|das|meine?n?)\s|\bnicht mehr\b|\bd[aü]rf(?:st|t|en)?\b.{1,60}\bwieder\b`,
    String.raw`\boublie[sz]? (?:les?|la|l['’]|pour)|\b(?:ne|n['’]).{1,40}\bplus\b`,
    String.raw`\bolvid[ae](?:te de)? (?:lo de|el|la|los|las)\b|\bya no\b|\besque(?:ce|ça) (?:o|a|os|as)\s|\bjá não\b|\bnão\b.{1,40}\bmais\b`,
    String.raw`\bdimentica (?:il|la|lo|i|gli|le|l['’])|\bnon\b.{1,40}\bpiù\b`,
    String.raw`なくて(?:も)?(?:いい|大丈夫|構)|ても(?:大丈夫|いい|構いません|かまいません)|取り消|撤回|キャンセル`,
    String.raw`不再|不用再|不用了|(?:也|都|又)可以了?|取消|作废|作廢|改主意`,
    String.raw`더\s?이상|취소|해도\s?(?:돼|되|괜찮)|이제(?:는)?\s.{0,30}괜찮`,
  ].join('|'),
  'iu',
);
/** One of these stands in what it finds in plain characters: most texts have none. */
const plainEnding =
  /forget|longer|any ?more|you (?:can|may|are)|(?:fine|ok|okay|allowed) (?:again|now|after all)|changed my mind|scratch|drop|lift|cancel|undo|verg[ei]ss|nicht mehr|darf|oublie|plus|olvid|ya no|esque|dimentica/i;
const question = /[?？]\W{0,3}$/u;
/** What the words that end a wish share with it at least: stems, or pairs of characters. */
const SHARED_WORDS = 2;
const SHARED_SHARE = 0.3;

/**
 * Sentences in which a user, in his own words, ends something that he wanted: "Forget the rule about lists", "You may
 * call me again". What they end tells `takesBack`. Heuristic in nine languages. Linear.
 */
export function withdrawalsIn({ speaker, text }: Pick<Utterance, 'speaker' | 'text'>): string[] {
  if (speaker !== 'user' || (isAscii(text) && !plainEnding.test(text))) return [];
  const own = ownWords(text.toWellFormed());
  return sentenceSpans(own)
    .map(({ start, end }) => own.slice(start, end))
    .filter((sentence) => ending.test(foldWidth(sentence)) && !question.test(sentence));
}

/** Whether a withdrawal is about the same as a wish: they share words. Heuristic. */
export function takesBack(withdrawal: string, wish: string): boolean {
  const [ended, wanted] = [new Set(contentWords(withdrawal)), new Set(contentWords(wish))];
  const shared = [...wanted].filter((word) => ended.has(word)).length;
  return shared >= SHARED_WORDS && shared >= SHARED_SHARE * Math.min(ended.size, wanted.size);
}
