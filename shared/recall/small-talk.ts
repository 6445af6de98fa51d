import { stemWord } from '../search/search-words.ts';

/** What people say to one another whatever they talk about; as words are folded for a search. */
export const politeWords: ReadonlySet<string> = new Set(
  `thanks thank thx please pls hi hey hello hiya good great nice fine okay ok yes yeah yep yup nope sure sorry bye
  goodbye morning evening night afternoon wow cool awesome amazing haha lol well oh welcome really right glad
  danke bitte hallo tschuss tschuß ja nein gut merci bonjour salut oui non gracias hola adios si bueno vale ciao grazie
  obrigado obrigada ola`.split(/\s+/u),
);

/** Phrases whose words mean something elsewhere: left out where they are a clause of their own. */
const CLAUSES = new RegExp(
  String.raw`(?<=^|[\p{P}\n]\s{0,3}|\b(?:and|so|but|well|oh|yeah|yes|ok|okay|hey|hi|that|it|this)\s)(?:(?:it's |that's |there's )?no (?:problem|worries|doubt)|not a problem|my pleasure|of course|for sure|you bet|anytime` +
    String.raw`|(?:please )?take (?:good )?care|good luck|best of luck|(?:you're|you are) (?:very |so |most )?welcome|same here|me too|so do i` +
    String.raw`|(?:just )?let me know(?: (?:if|when|whenever) you need (?:anything|help|assistance|a hand|me))?|long time,? no (?:see|talk|chat)` +
    String.raw`|(?:nice|good|great|glad|happy) to (?:hear|see|meet|help|chat)(?: (?:from|that|it|you|with|this|to|again))*|how(?:'s it going| are you(?: doing)?(?: today)?|'ve you been| have you been| about you)|what about you|what's (?:up|new)` +
    String.raw`|(?:i )?can't wait|keep (?:it up|going|up the (?:good|great) work)|you(?:'ve)? got this|way to go|(?:good|great|nice|well) (?:job|done|work)` +
    String.raw`|(?:talk|see|catch|speak) (?:to |with )?(?:you|ya) (?:soon|later|then|again|around)|have a (?:good|great|nice|lovely|wonderful) (?:one|day|night|time|evening|week|weekend|trip)` +
    String.raw`|(?:sounds|looks) (?:good|great|fun|awesome|amazing|interesting|like a plan)|congrats|congratulations|enjoy|tell me more|go on|continue|what else|more,? please)(?=\s*(?:\p{P}|$))`,
  'giu',
);

/** The same in scripts without spaces; longer ones first. */
const PHRASES =
  /ありがとう(?:ございま(?:す|した))?|おはよう(?:ございます)?|こんにち[はわ]|こんばん[はわ]|すみません|お願いします|谢谢[你您]?|謝謝[你您]?|[你您]好|早上好|晚上好|再见|再見|好的|对不起|没关系|감사합니다|고마워요?|안녕(?:하세요|히)?|죄송합니다|然后呢|还有呢|继续|それで|それから|続けて|그리고|계속/gu;

const THANKS =
  /(?<!\p{L})(?:thanks?|thx|cheers|(?:good)?bye|good ?night|danke|tschüss|merci|gracias|adi[oó]s|grazie|obrigad[oa])(?!\p{L})|ありがとう|おやすみ|[谢謝][谢謝]|再[见見]|晚安|감사|고마워/iu;

/** Whether a text thanks or takes leave: where it says nothing else, nothing is asked. */
export const isThanks = (text: string): boolean => THANKS.test(text);

/** A text without its pleasantries, blanks in their places. Heuristic. */
export const withoutSmallTalk = (text: string): string =>
  text.replaceAll('’', "'").replaceAll(CLAUSES, ' ').replaceAll(PHRASES, ' ');

/**
 * Words of praise, encouragement and sympathy. They may be what somebody asks about, but a sentence of nothing else tells
 * nothing. English; no words of time, for "last week" is an answer.
 */
const kindWords =
  `appreciate support mean lot kind kindness word words positive positivity hear proud keep keeping go going push forward
  care chat talk catch ya see seeing enjoy rest believe luck happy happiness glad sure totally definitely inspire
  inspiring inspiration dedicate dedicated dedication passion passionate hope best better wish way perfect cheers buddy
  man dude bro fantastic wonderful beautiful incredible sweet neat excite excited exciting excitement interesting fun
  sound sounds look looks seem seems feel feeling feels felt make makes making get getting got gotten thing things stuff
  bit little much many more most ever never always still even again since though know think guess understand agree true
  exactly absolutely anyway maybe actually pretty quite super impact difference matter important crucial new happen
  happening anything something everything nothing everyone everybody anyone someone somebody far ride journey tough
  rough challenge challenging challenges big huge gonna gotta yourself myself himself herself take taking give giving
  doing priceless worth impressive impressed rewarding fulfilling special cannot unreal heartwarming touching stay
  strong meaningful meaning bring bringing brings joy crazy hang hanging good nice great stoked thrilled thrill`.split(
    /\s+/u,
  );

const politeStems: ReadonlySet<string> = new Set([...politeWords, ...kindWords].map(stemWord));

/** Whether a term of a text is a word of small talk. */
export const isPoliteTerm = (term: string): boolean => politeStems.has(term);
