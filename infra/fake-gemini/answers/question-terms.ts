/** Words that say nothing about what is asked. */
const stopWords = new Set(
  `a about above after again all also am an and any are as at be been before being but by can could did do
  does doing down during each exactly for from further get give had has have having he her here him his how i if in
  into is it its just know let like list many me mine more most much my name need no nor not now of off ok on
  once only or other our out over please recall remember remind repeat said same say shall she should show so some
  still such tell than thank thanks that the their them then there these they this those to too told under until up
  us use used using very want was we were what when where which while who whom whose why will with would yes you your`.split(
    /\s+/,
  ),
);

const stopBigrams = new Set(
  `什么 是什 的是 是多 多少 怎么 为什 哪个 哪里 我们 你们 请问 告诉 诉我 记得 还记 一下 我的 你的 了吗 的吗 是不 不是
  です ます すか ませ せん した ました した まし たか てい いる いま ます のは とは はい 何で なん んで 教え えて てく くだ ださ さい 私の
  무엇 엇인 인가 가요 나요 니까 입니 습니 어떻 떻게 있나 있어 해줘 알려 려줘 뭐야 인지 내가 제가`.split(
    /\s+/,
  ),
);

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+/gu;
const spacedWord = /[\p{L}\p{M}\p{N}]+/gu;

/** One thing to look for. `isStem`: the start of a word, of which up to three letters may follow. */
export interface Term {
  text: string;
  isStem: boolean;
}

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/u, '') : word;
}

/** Lower case without changing the length of the text (İ is the one letter that would). */
export function toLower(text: string): string {
  return text.replaceAll('İ', 'I').toLowerCase();
}

/** The content words of a question: stems of words, bigrams of scripts written without spaces. At most 64. */
export function questionTerms(question: string): Term[] {
  const lower = toLower(question);
  const terms = new Map<string, Term>();
  for (const [run] of lower.matchAll(unspaced)) {
    for (let index = 0; index + 2 <= run.length; index += 1) {
      const text = run.slice(index, index + 2);
      if (!stopBigrams.has(text)) terms.set(text, { text, isStem: false });
    }
  }
  for (const [word] of lower.replace(unspaced, ' ').matchAll(spacedWord)) {
    if (stopWords.has(word) || (word.length < 2 && !/\d/.test(word))) continue;
    const text = stem(word);
    terms.set(text, { text, isStem: true });
  }
  return [...terms.values()].slice(0, 64);
}

const questionMark = /[?？]["'”’)\]]?\s*$/u;
const asking =
  /^(?:so |and |but |ok |okay |now |please |then )*(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|would|will|should|have|has|tell me|remind me|repeat|list|show)\b/i;
const askingUnspaced =
  /(?:吗|呢|么|ですか|ますか|でしょうか|까요?|나요|인가요|뭐야|뭔가요)[。.!！]?$|什么|多少|哪[个里些]|怎么|为什么|무엇|어떻게|어디|언제|누구/u;

/** Whether a sentence asks something: by its mark, its first word or its particles. A heuristic. */
export function isQuestion(sentence: string): boolean {
  return questionMark.test(sentence) || asking.test(sentence) || askingUnspaced.test(sentence);
}
