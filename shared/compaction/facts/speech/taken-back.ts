import type { TextSpan } from './quoted-speech.ts';
import { foldWidth, isAscii } from '#shared/text/plain-text.ts';
import { sentenceSpans } from '#shared/text/sentences.ts';

const joined = (sources: readonly string[]): string =>
  sources.map((source) => `(?:${source})`).join('|');

/** What people say before they take something back. */
const interjections = joined([
  `actually|oh|ah|um|hm+|no|nope|wait|well|sorry|ok|okay|hold on|on second thoughts?|but|and|just|please`,
  `ach|nein|nee|doch|halt|moment|bitte|non|attends|attendez|en fait|finalement|espera|perdón|mejor|não|aspetta|anzi|scusa`,
]);
const opening = String.raw`(?:(?:${interjections})(?![\p{L}'’])[\s,.!…–—-]{0,4}){0,5}`;
const ending = String.raw`(?=\s*(?:[.,;:!…–—。、]|\s-\s|$))`;
/** Only what can mean nothing else: "ignore it" and "cancel it" may go on with the wish. */
const latin = joined([
  String.raw`(?:forget|scratch|strike)\s(?:about\s)?(?:that|it|this|what i (?:just )?said)(?:\s(?:again|please|one|rule|part|last (?:one|part|bit)))?`,
  String.raw`(?:ignore|disregard)\swhat i (?:just )?said`,
  String.raw`never ?mind(?:\s(?:that|it|this))?(?:\srule)?`,
  String.raw`i take (?:that|it|this) back|i did(?:n't| not) mean (?:that|it|this)`,
  String.raw`(?:vergiss|vergesst|vergessen sie|streich|streiche|streichen sie)\s(?:das|es|den letzten satz)(?:\s(?:wieder|bitte|gerade))?|ich nehme (?:das|es) zurück`,
  String.raw`oublie[sz]?[\s-](?:ça|cela|le)|laisse[z]? tomber`,
  String.raw`olvídalo|olvídelo|olvid[ae](?:te de)?\s(?:eso|esto)|esque(?:ce|ça)(?:\s(?:isso|isto))?`,
  String.raw`dimenticalo|dimentica(?:\squesto)?|lascia (?:stare|perdere)|come non detto`,
]);
const japaneseObject = '(?:(?:今|さっき|先ほど|上)の(?:話|こと|お願い)?|それ|これ)(?:は|を|も)?';
const eastern = joined([
  String.raw`(?:(?:やっぱり|やはり|いや|いえ|あ|すみません|ごめん(?:なさい)?)[、。,\s]*){0,3}(?:${japaneseObject}[、\s]*(?:忘れて|無視して|なしで|なしに|取り消|キャンセル)|(?:取り消し|撤回し)ます|なかったことに)[\p{sc=Hiragana}\p{sc=Han}]{0,8}`,
  String.raw`(?:(?:哦|啊|不|不对|不對|等等|其实|其實|还是|還是)[，,\s]*){0,3}(?:算了|当我没说|當我沒說|(?:忘了|忘掉|忽略|取消|收回)(?:刚才|刚刚|剛才|剛剛|上面|前面)(?:说)?的?(?:话|要求|那条|这条)?|(?:刚才|刚刚|剛才|剛剛|上面|前面)(?:说|說)?的?(?:话|要求|那条|这条)?(?:不算|作废|作廢|取消))(?:吧|了|数)?`,
  String.raw`(?:(?:아|아니|아니다|음|잠깐만?|죄송(?:해요|합니다)?)[,.\s]*){0,3}(?:(?:방금|아까|지금)\s?(?:한\s?)?(?:말|거|것|요청)[은는을를]?\s?(?:취소|잊어|무시|없던)|없던 (?:걸로|일로))[가-힣\s]{0,10}`,
]);
/** One of these stands in each of the Latin ones: most texts of plain characters have none. */
const latinStems =
  /forget|scratch|strike|ignore|disregard|never ?mind|take (?:that|it|this) back|mean|verg[ei]s|streich|nehme|oublie|laisse|olvid|esque|dimentica|lascia|detto/i;
const mayTakeBack = (text: string): boolean => !isAscii(text) || latinStems.test(text);

const takingBack = new RegExp(`^${opening}(?:${latin}|${eastern})${ending}`, 'iu');
const onlyOpening = new RegExp(String.raw`^${opening}[\s,.!…–—-]*$`, 'iu');
/** In one sentence: `Always X, no wait, forget that.` */
const clauseSign = /[,;，、；–—]|\s-\s/u;
/** Sentences of a hesitation between a statement and its end. */
const HESITATIONS = 2;

function endsInTakingBack(sentence: string): boolean {
  if (takingBack.test(sentence) || onlyOpening.test(sentence)) return false;
  const clauses = sentence.split(clauseSign);
  return clauses.length > 1 && takingBack.test((clauses.at(-1) ?? '').trim());
}

/**
 * The sentences of a text that it takes back at once: "Always answer in lists. Actually, forget that." Only
 * the one right before, for `that` means no other for sure. Heuristic for precision in English, German, French,
 * Spanish, Portuguese, Italian, Japanese, Chinese and Korean; what is taken back by its name is not seen. Linear.
 */
export function takenBackSpans(
  text: string,
  sentences: readonly TextSpan[] = sentenceSpans(text),
): TextSpan[] {
  if (!mayTakeBack(text)) return [];
  const said = sentences.map(({ start, end }) => foldWidth(text.slice(start, end)).trim());
  return sentences.filter((_, at) => {
    if (onlyOpening.test(said[at] ?? '')) return false;
    if (endsInTakingBack(said[at] ?? '')) return true;
    let next = at + 1;
    while (next <= at + HESITATIONS && onlyOpening.test(said[next] ?? ' .x')) next += 1;
    return takingBack.test(said[next] ?? '');
  });
}

/** A text without the sentences that it takes back at once. Linear. */
export function withoutTakenBack(text: string): string {
  if (!mayTakeBack(text)) return text;
  const spans = takenBackSpans(text);
  if (spans.length === 0) return text;
  const ends = [0, ...spans.map(({ end }) => end)];
  const starts = [...spans.map(({ start }) => start), text.length];
  return ends.map((end, index) => text.slice(end, starts[index])).join(' \uFFFC ');
}
