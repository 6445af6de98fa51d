import { isAscii } from '#shared/text/plain-text.ts';

/** Words without one of which a sentence is no wish in a language: they spare the expressions. */
const triggers = {
  english: `never always don't avoid ensure sure circumstances refrain stick only call address reply answer respond write speak talk
    from going future every whenever please must mustn't shouldn't should not can't cannot won't allergic allergy allergies
    intolerant intolerance vegan vegetarian pescatarian gluten lactose celiac coeliac diabetic halal kosher prefer rather
    preference budget limit maximum deadline most least than before after up minimum no has have to off must-have requirement forbidden
    keep leave hands nothing use write say speak stay without instead intolerant doesn't doesnt pescatarian no-go dealbreaker deal-breaker acceptable allowed option`,
  german: `bitte nie niemals nur immer ab fall umständen zukunft künftig nun ich wir vermeide vermeiden achte achten verwende
    verwenden nutze buche antworte antworten allergisch allergie unverträglichkeit vegetarier vegetarierin vegan vegetarisch
    laktoseintolerant veganer veganerin nichts nicht unser lass lasst lassen schreib schreibe sprich liebsten höchstens mindestens maximal mehr spätestens frühestens du ihr mein`,
  french: `je nous n' ne allergique végétarien végétarienne végan végane vegan intolérant intolérante diabétique j'ai allergie préfère
    préférons plus maximum moins minimum tard avant partir désormais dorénavant avenir évite évitez utilise utilisez assurez-vous
    assure-toi réponds répondez toujours jamais surtout tu vous il mon notre rien seulement uniquement laisse laissez écris écrivez parle parlez réponds-moi
    répondez-moi écris-moi écrivez-moi parle-moi parlez-moi pas`,
  spanish: `no nunca jamás siempre soy somos es tengo prefiero preferimos preferiría presupuesto máximo mínimo tardar menos ahora futuro
    evita evite asegúrate asegúrese solo sólo únicamente favor debe debes tienes nada nuestro usa use utiliza utilice usamos deja deje dejad responde respóndeme contesta
    contéstame escribe escríbeme háblame`,
  portuguese: `não nunca jamais sempre sou somos é tenho prefiro preferimos preferiria orçamento máximo mínimo tardar menos agora
    futuro evite certifique-se apenas somente favor você daqui nada só nosso usa use utiliza utilize usamos deixa deixe responda responde responda-me responde-me escreva escreve`,
  italian: `non mai sempre sono siamo è ho preferisco preferiamo preferirei budget massimo minimo tardi almeno entro ora d'ora futuro
    evita eviti assicurati soltanto solo favore devi deve niente nostro usa usi utilizza utilizzi usiamo lascia lasci rispondi rispondimi risponda scrivi scrivimi`,
} as const;

export type LatinLanguage = keyof typeof triggers;

const languages: readonly LatinLanguage[] = [
  'english',
  'german',
  'french',
  'spanish',
  'portuguese',
  'italian',
];

const languagesByWord = new Map<string, LatinLanguage[]>();
for (const language of languages)
  for (const word of triggers[language].split(/\s+/))
    languagesByWord.set(word, [...(languagesByWord.get(word) ?? []), language]);

const word = /[\p{L}\p{M}]+(?:['-][\p{L}\p{M}]+)*/gu;
/** The same for plain letters, which is several times faster. */
const plainWord = /[a-z]+(?:['-][a-z]+)*/g;

/** The languages in which a folded sentence may be a wish. */
export function triggeredLanguages(sentence: string): Set<LatinLanguage> {
  const found = new Set<LatinLanguage>();
  const lower = sentence.toLowerCase();
  for (const one of lower.match(isAscii(lower) ? plainWord : word) ?? []) {
    for (const language of languagesByWord.get(one) ?? []) found.add(language);
    // n'utilise, d'ora: the word before the apostrophe tells as well.
    const elided = one.includes("'") ? one.slice(0, one.indexOf("'")) : one;
    if (elided !== one)
      for (const language of languagesByWord.get(`${elided}'`) ?? []) found.add(language);
  }
  return found;
}
