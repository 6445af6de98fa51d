import { contentWords } from '../compaction/facts/speech/content-words.ts';
import { findMatches } from '../compaction/facts/index/matches.ts';
import { plainText } from '../compaction/facts/speech/plain-text.ts';

const endings = /(?:'s|ing|ed|es|s|e)$/u;
const latinLetters = /^\p{Script=Latin}/u;

/** A stem without what grammar adds: `eats` and `eat`, `study` and `studies`. */
export function bareStem(word: string): string {
  if (!latinLetters.test(word)) return word;
  const bare = word.replace(endings, '');
  return (bare.length >= 3 ? bare : word).replace(/y$/u, 'i');
}

/** Words of a wish to forget, and those with which people point at what they said; they name nothing. */
const wishWords: ReadonlySet<string> = new Set(
  `forget forgets forgot forgotten remember remembered delete deleted remove removed erase erased drop clear wipe note notes
  memory memories saved save stored anymore longer more now yes no okay ok sure thanks thank right exactly again about told tell say said
  mentioned think know what which who when where that's thing things stuff fact facts info information one ones old former previous
  wrong mistake outdated true not don't doesn't isn't never any both part bit concerning regarding
  vergiss vergiß vergessen lösche löschen lösch entferne entfernen streich merken merk gemerkt notiz notizen erinnerung gesagt nicht
  mehr bitte alte alten alter altes was dass über mein meine meinen meiner meinem dein deine ja nein danke doch mal jetzt stimmt falsch von
  oublie oubliez oublier efface supprime retire souviens mémoire plus mon ma mes sur ce cette ça dit pas ancien ancienne merci oui non
  olvida olvídate olvide olvidar borra borrar elimina eliminar quita recuerdes recuerda memoria nota ya mi mis sobre lo dije dicho eso esto
  favor gracias sí viejo vieja antiguo antigua acerca
  esquece esqueça esquecer apaga apague remove lembre memória meu minha meus minhas sobre isso disse obrigado obrigada sim não antigo antiga
  dimentica dimenticare cancella elimina togli ricordare mia mio miei mie su quello detto grazie sì vecchio vecchia
  may might shall should must want wants wish like love stop get rid keep keeping remembering forgetting deleting removing memory your yours about
  kannst könntest würdest könnten würden sollst soll sollen sollte darfst möchte will wird werden löschst löscht gelöscht streiche gestrichen
  entfernt vergisst weißt gedächtnis über den dem des mit bin aus deinem deiner deinen
  peux-tu pouvez-vous pourrais-tu pourriez-vous peux pouvez pourrais veux voudrais aimerais j'aimerais souhaite oublier oublies effacer effaces
  supprimer retirer enlève enlever note s'il te plaît ta tes t'en aux sur veuillez
  puedes podrías puede podría quiero quisiera gustaría olvides olvidar borres borrar elimines quite quites tu tus te
  podes podias poderia gostaria queria quero esquecesse esquecesses esqueças esquecer apagues apagar remova remover elimine tua tuas sua suas da do das dos
  puoi potresti vorrei voglio dimenticassi dimentichi dimenticarti cancellare cancelli rimuovi rimuova tuo tua sulla sulle sul sui dalla alle scordati scorda del dello della dei delle`
    .split(/\s+/)
    .flatMap((word) => contentWords(word))
    .map(bareStem),
);

/** The same, with the grammar around them, in scripts where nobody parts words. */
const easternWish =
  /[从從](?:记忆|記憶)[中里裡]|忘れ|忘[记記掉却卻]|忘|覚え|記憶|消[しす]|消去|削除|[删刪][除掉]|[记記][忆憶得住录錄]|不要再?|别再?|別再?|[请請]|把|[关關]于|[关關]於|那[个個件]?|[这這][个個件]?|[的了吧呢吗嗎啊也就]|我|你|私|僕|俺|以前|前に|昔|言った|[说說][过過]?的?|一下|能不能|能否|可以|麻[烦煩]|メモ|ノート|件|事|잊어|잊고|잊|지워|삭제|기억|메모|해\s?줘|해\s?주세요|줘|주세요|달라고|버려(?:요|줘)?|해\s?줄래요?|제발|줄래요?|줄\s?수|좀|더\s?이상|이제|내가|제가|나의|저의|내|제|말한|것|거|대해서?|대한|관한/gu;
const japaneseGrammar =
  /のことは?を?|について|に関して|という|って|ください|下さい|てほしい|ほしい|もう|から|ので|ました|でした|ます|です|した|いた|ない|なく|する|して|いる|ある|あの|その|この|それ|これ|あれ|もらえますか|もらえ|くれますか|いただけますか|まで|より|だけ|など|には|では|とは|にも|わたし|ぼく/gu;
const japaneseEnding = /[をがはのにでともへやねよかしてた]{1,2}$/u;
const koreanEnding =
  /(?:이라는|라는|에서|에게|한테|으로|은|는|이|가|을|를|의|에|로|와|과|도|만|랑)$/u;

/** What is left behind a word that is taken out. */
const loneParticle = /^[은는이가을를의에로와과도만]$/u;

const latinWord = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}]/u;
const signs =
  /[\p{sc=Han}]|[\p{sc=Katakana}ー]+|[\p{sc=Hiragana}ー]+|[\p{sc=Hangul}]+|[\p{sc=Thai}]+/gu;
const hiragana = /^\p{sc=Hiragana}/u;
const hangul = /^\p{sc=Hangul}/u;
/** Shorter runs of hiragana are endings and particles. */
const HIRAGANA_MIN = 2;

/** What a sign, a run of signs or a Korean word names; empty: nothing. */
function namedBy(piece: string): string {
  if (hiragana.test(piece)) {
    const bare = piece.replace(japaneseEnding, '');
    return bare.length >= HIRAGANA_MIN ? bare : '';
  }
  if (!hangul.test(piece)) return piece;
  return piece.length > 1 ? piece.replace(koreanEnding, '') : piece.replace(loneParticle, '');
}

/** What a text names, to be looked for in another: stems of words, and pieces of scripts whose words are not parted. */
export interface TellingWords {
  stems: ReadonlySet<string>;
  pieces: ReadonlySet<string>;
}

/**
 * The words of a text that name something, without those of a wish to forget it. A heuristic: of Chinese and Japanese
 * every ideograph counts by itself, of Korean words what stands before a particle, of unknown languages every word.
 */
export function tellingWords(text: string): TellingWords {
  const plain = plainText(text);
  const stems = contentWords(plain)
    .filter((word) => latinWord.test(word))
    .map(bareStem)
    .filter((stem) => !wishWords.has(stem));
  const eastern = plain.replace(easternWish, ' ').replace(japaneseGrammar, ' ');
  const pieces = [...findMatches(eastern, signs)].map(([piece]) => namedBy(piece));
  return { stems: new Set(stems), pieces: new Set(pieces.filter((piece) => piece !== '')) };
}

export const namesNothing = ({ stems, pieces }: TellingWords): boolean =>
  stems.size + pieces.size === 0;

/** Whether a text, with these telling words, has all that others name. */
export const hasEvery = (
  { text, words }: { text: string; words: TellingWords },
  others: TellingWords,
): boolean =>
  [...others.stems].every((stem) => words.stems.has(stem)) &&
  [...others.pieces].every((piece) => text.includes(piece));
