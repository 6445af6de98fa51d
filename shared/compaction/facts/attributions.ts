import { matchesOf } from './matches.ts';
import { unspacedScript } from './plain-text.ts';

const union = (sources: readonly string[]): string =>
  sources.map((source) => `(?:${source})`).join('|');

/** Verbs of speech in forms that third persons have; a base form ("never say …") orders. */
const spoken = String.raw`wrote|writes|written|said|says|told|tells|replied|replies|answered|answers|asked|asks|texted|texts|emailed|e-mailed|posted|commented|announced|warned|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|antwortet|écrit|écrivait|dit|disait|répondu|répond|escribió|escribe|escrito|dijo|dice|dicho|respondió|responde|escreveu|escreve|escrito|disse|diz|dito|respondeu|scritto|scrive|scrisse|detto|rispose|risponde|risposto`;
/** The same where words are not parted by blanks: what stands before a colon or a quotation mark. */
const spokenEast = String.raw`(?:写道|寫道|写信说|说道|說道|说|說|表示|回复|回覆|回答|来信|來信|留言|通知|告诉我|告訴我|转告|[问問](?![题題])|と(?:言|い)(?:った|って(?:いた|いました)?|いました)|書(?:いた|いてきた|いています)|返信|返事|伝言|말(?:했어요|했다|했습니다|하기를|씀)|썼(?:어요|다|습니다)|답장|전달)`;
/** A word between a verb of speech and its colon: `to me`, `(host)`, `<m@x.example>`. */
const name = String.raw`[\p{L}\p{N}'’()<>@&-]{1,30}(?:\.[\p{L}\p{N}'’()<>@&-]{1,30}){0,4}`;

/** Who speaks is the user. */
const bySelf = new RegExp(
  union([
    String.raw`(?<![\p{L}'’])(?:i|we|ich|wir|je|j['’]ai|nous(?: avons)?|yo|eu|nós|io|noi)(?:['’](?:ve|d|m))?(?:\s(?:have|had|already|just|also|once|only|always|did|habe|schon|bereits|ai|ho|he|déjà|già|ya|já)){0,3}\s?$`,
    String.raw`(?:^|[^\p{sc=Han}])(?:我|我们|我們|咱们)(?:已经|已經|刚才|剛才|刚|剛|之前|都|也|就|再|先|只|想|要)?$`,
    String.raw`(?:私|僕|俺)(?:は|が)[^、。]{0,6}$|(?:나는|내가|제가|저는)\s?$`,
    String.raw`(?:as|like|wie|wie schon|bereits)\s$`,
  ]),
  'iu',
);

const speech = new RegExp(
  String.raw`(?:(?<![\p{L}'’])(?:${spoken})(?![\p{L}'’])(?:\s${name}){0,5}\s?|${spokenEast}[了过過着]?[\p{L}]{0,6}\s?)[:：]`,
  'giu',
);

const holdsColon = (line: string): boolean => /[:：]/.test(line);

/** Where, in a line, somebody else begins to speak without quotation marks: behind the colon; -1: nowhere. */
export function speechStart(line: string): number {
  if (!holdsColon(line)) return -1;
  for (const match of matchesOf(line, speech))
    if (!bySelf.test(line.slice(Math.max(0, match.index - 40), match.index)))
      return match.index + match[0].length;
  return -1;
}

const before = new RegExp(
  String.raw`(?:(?<![\p{L}'’])(?:${spoken})(?![\p{L}'’])(?:\s${name}){0,5}[\s,:]{0,3}|${spokenEast}[了过過着]?[，,:：\s]{0,3})$`,
  'iu',
);
const behind = new RegExp(
  String.raw`^[\s,.;!?]{0,3}(?!(?:which|that|who|where|when|and|or|is|are|der|die|das|que|qui|che)(?!\p{L}))(?:(?:${name}\s){0,3}(?:${spoken})(?![\p{L}'’])|(?:と|って)[\p{L}]{0,6}(?:言|い[っう]|書|返|伝|頼|指示)|(?:라고|이라고|고)\s?(?:말|했|하|썼|쓰|적|답)|[，,]?[^。，,\n]{0,8}${spokenEast})`,
  'iu',
);

/** Whether the words around a quotation say that somebody else said it. */
export function isOthersSpeech(textBefore: string, textBehind: string): boolean {
  const said = before.exec(textBefore);
  if (said !== null && !bySelf.test(textBefore.slice(0, said.index))) return true;
  const saidBehind = behind.exec(textBehind);
  return saidBehind !== null && !/^[\s,.;!?]{0,3}(?:i|we|ich|wir|je|yo|eu|io)\s/iu.test(textBehind);
}

/** Lines that announce a text of somebody else: a mail, a forwarded message, the parts of a chat. */
const announces = new RegExp(
  String.raw`(?:(?<![\p{L}])(?:her|his|their|its|ihre?|seine?|son|sa|ses|su|sus|sua|seu|suo)\s(?:${name}\s){0,2}(?:e-?mail|mail|message|letter|note|sms|text|chat|reply|answer|nachricht|brief|antwort|courriel|lettre|réponse|correo|mensaje|carta|respuesta|mensagem|resposta|messaggio|lettera|risposta)(?![\p{L}])|(?<![\p{L}])(?:forward(?:ed|ing)?|fwd|weitergeleitete?|transféré|je te transfère|reenviado|reenvío|encaminh(?:o|ada|ado)|inoltr(?:o|ato))(?![\p{L}])|(?:mail|e-?mail|message|letter|nachricht|courriel|correo|mensaje|mensagem|messaggio)\s(?:from|von|de|da|di)\s|转给|轉給|转发|轉發|(?:回|来|來)信|邮件|郵件|転送|メールが|返信が|(?:메일|답장|메시지)(?:이|가|를|을)?)[^:：\n]{0,60}[:：]\s*$`,
  'iu',
);
export const announcesPaste = (line: string): boolean => holdsColon(line) && announces.test(line);

const mailBreak =
  /^[\s>]{0,20}(?:[-_=*]{2,40}\s{0,3}(?:original|forwarded|ursprüngliche|weitergeleitete|message (?:d'origine|transféré)|mensaje (?:original|reenviado)|mensagem (?:original|encaminhada)|messaggio (?:originale|inoltrato)|原始邮件|原始郵件|转发的?邮件|転送|元のメッセージ|원본 ?(?:메시지|메일)|전달된 ?메시지)[^\n]{0,60}|begin forwarded message\b[^\n]{0,20}|anfang der weitergeleiteten[^\n]{0,30})/iu;
/** The line above a quoted mail: `On 3 March 2026 at 10:00, Marta <m@x.example> wrote:`. */
const mailOpening =
  /^[\s>]{0,20}(?:on|am|le|el|em|il|op)\s[^\n]{0,200}\d[^\n]{0,200}(?:wrote|schrieb[^\n]{0,80}|a écrit|escribió|escreveu|ha scritto)\s?:\s*$|\d{4}[^\n]{0,100}(?:写道|寫道|のメール|님이 (?:작성|썼))[^\n]{0,20}[:：]\s*$/iu;
export const opensMail = (line: string): boolean =>
  mailBreak.test(line) || (holdsColon(line) && mailOpening.test(line));

const mailField =
  /^[\s>*]{0,20}(?:from|sent|to|cc|date|subject|reply-to|von|gesendet|an|datum|betreff|de|envoyé|à|objet|enviado|para|asunto|assunto|da|inviato|a|oggetto|发件人|發件人|发送时间|收件人|主题|主旨|差出人|送信日時|宛先|件名|보낸 ?사람|받는 ?사람|날짜|제목)\*{0,2}\s?[:：]/iu;
/** A field of the head of a mail. A journey has `From:` and `To:` as well. */
export const isMailField = (line: string): boolean => holdsColon(line) && mailField.test(line);

/** What only mails have in their heads. */
export const isSureMailField = (line: string): boolean =>
  mailField.test(line) &&
  /@|^[\s>*]{0,20}(?:sent|subject|reply-to|gesendet|betreff|envoyé|objet|enviado|asunto|assunto|inviato|oggetto|发件人|發件人|发送时间|收件人|主题|主旨|差出人|送信日時|件名|보낸|받는|제목)/iu.test(
    line,
  );

/** A line of an exported chat with its time, or one that says another role speaks. */
const chatLine =
  /^\s*(?:\[\s?(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{2,4})?,?\s)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\s?\]\s?[^:：\n]{1,40}[:：]|\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\s?[-–]\s?[^:：\n]{1,40}[:：]|\[?(?:system|assistant|developer|tool|ai|bot|model)(?: (?:message|prompt|note))?\]?\s?[:：])/iu;
export const isChatLine = (line: string): boolean => holdsColon(line) && chatLine.test(line);

/** Letters of scripts without blanks between words count double. */
const wide = new RegExp(`[${unspacedScript}]`, 'gu');

/** About as many characters as the text would have in Latin letters. */
export const weightOfText = (text: string): number => text.length + (text.match(wide)?.length ?? 0);
