import type { Utterance } from '#shared/conversation/utterances.ts';
import { foldWidth, isAscii, plainText, unspacedScript } from '#shared/text/plain-text.ts';
import { findMatches, sentenceSpans } from '#shared/text/sentences.ts';
import { distinctUnits } from '#shared/text/words.ts';

/*
 * What of a message is the user's own word. Most of it is told by structure: quotation marks, lines quoted with `>`,
 * fences, heads of mails. Where nothing but words tells (a pasted letter, "she wrote:", "forget that", a yes to a proposal)
 * there are lists of them in nine languages, each for an attack that stands in test/unit/compaction/attacks.
 */

// Quotations

/** A stretch of a text, `end` not included. */
export interface TextSpan {
  start: number;
  end: number;
}

/** What ends a stretch that a mark begins. */
const closers: Readonly<Record<string, string>> = {
  '"': '"',
  '＂': '＂',
  "'": "'",
  '“': '”"',
  '„': '“”"',
  '‘': '’',
  '«': '»',
  '»': '«',
  '「': '」',
  '『': '』',
};
const quotationMark = /["＂'“”„‘’«»「」『』]/g;
/** A letter or figure of a script that puts blanks between words. */
const wordSign = /(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])[\p{L}\p{N}_]/u;
const blankSign = /\s/u;
/** Marks that also stand for inches, apostrophes or missing letters: their place tells which. */
const ambiguous: ReadonlySet<string> = new Set(['"', '＂', "'", '»']);
/** Deeper quotations are not told apart. */
const DEPTH_MAX = 8;

const isBlank = (sign: string): boolean => sign === '' || blankSign.test(sign);

interface OpenMark {
  sign: string;
  start: number;
}

/** The innermost open mark that `sign` closes, as its place in `open`; -1 where there is none. */
function closedBy(sign: string, open: readonly OpenMark[], around: [string, string]): number {
  if (sign === "'" || sign === '’' || sign === '"' || sign === '＂') {
    const [before, after] = around;
    if ((sign !== '’' && isBlank(before)) || wordSign.test(after)) return -1;
  }
  return open.findLastIndex((one) => closers[one.sign]?.includes(sign));
}

function opens(sign: string, [before, after]: [string, string]): boolean {
  if (!(sign in closers)) return false;
  return !ambiguous.has(sign) || (!wordSign.test(before) && !isBlank(after));
}

/**
 * Stretches in quotation marks, marks included, in the order of their ends; also those within others. What is never closed
 * is none, and single marks quote nothing over the end of a line. Linear.
 */
export function quotedSpans(text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  const open: OpenMark[] = [];
  for (const { 0: sign, index } of text.matchAll(quotationMark)) {
    const around: [string, string] = [text.charAt(index - 1), text.charAt(index + 1)];
    const at = closedBy(sign, open, around);
    const start = open[at]?.start;
    if (start !== undefined) {
      open.length = at;
      const isOfLines = sign !== "'" || !text.slice(start, index).includes('\n');
      if (isOfLines) spans.push({ start, end: index + 1 });
    } else if (opens(sign, around)) {
      if (open.length === DEPTH_MAX) open.shift();
      open.push({ sign, start: index });
    }
  }
  return spans;
}

// Lines

/** What opens a mail is a short line, or stands at the beginning of one. */
const LINE_CHARACTERS = 600;
/** As far as it is looked ahead who speaks again, or how long a paragraph is. */
const NEAR_LINES = 20;

const quotedLine = /^[ \t\u3000]{0,12}(?:[-*•]\s|\d{1,2}[.)]\s)?(?:\p{Lu}{1,3})?(?:[>＞]|&gt;)/u;
const fenceMark = /^[ \t]{0,12}(?:[-*•]\s)?(`{3,40}|~{3,40})/;

/** A line of a text, without its end. */
interface TextLine extends TextSpan {
  text: string;
}

function* textLines(text: string): Generator<TextLine> {
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    yield { start, end, text: text.slice(start, end) };
    start = end + 1;
  }
}

const lineBeginning = ({ text }: TextLine): string => text.slice(0, LINE_CHARACTERS);
const isEmpty = ({ text }: TextLine): boolean => text.trim() === '';
const isQuotedLine = ({ text }: TextLine): boolean => quotedLine.test(text.slice(0, 40));
const isFence = ({ text }: TextLine): boolean => fenceMark.test(text.slice(0, 30));

/** Where a code fence that begins at a line ends: behind the line that closes it. */
function fenceEnd(lines: readonly TextLine[], at: number): number {
  const sign = fenceMark.exec(lines[at]?.text ?? '')?.[1] ?? '```';
  for (let next = at + 1; next < lines.length; next += 1)
    if (fenceMark.exec(lines[next]?.text ?? '')?.[1]?.startsWith(sign)) return next + 1;
  return lines.length;
}

/** The next line that says something, nearby. */
const nextFull = (lines: readonly TextLine[], from: number): number => {
  const at = lines.slice(from, from + 8).findIndex((line) => !isEmpty(line));
  return at === -1 ? lines.length : from + at;
};

const paragraphEnd = (lines: readonly TextLine[], from: number): number => {
  let at = from;
  for (let line = lines[at]; line !== undefined && !isEmpty(line); line = lines[at]) at += 1;
  return at;
};

/** The beginning of a paragraph. */
function nearParagraph(lines: readonly TextLine[], from: number): readonly TextLine[] {
  const near = lines.slice(from, from + NEAR_LINES);
  const end = near.findIndex(isEmpty);
  return end === -1 ? near : near.slice(0, end);
}

// Who speaks

const anyOf = (sources: readonly string[]): string =>
  sources.map((source) => `(?:${source})`).join('|');

/** Verbs of speech in forms that third persons have; a base form ("never say …") orders. */
const spoken = String.raw`wrote|writes|written|said|says|told|tells|replied|replies|answered|answers|asked|asks|texted|texts|emailed|e-mailed|posted|commented|announced|warned|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|antwortet|écrit|écrivait|dit|disait|répondu|répond|escribió|escribe|escrito|dijo|dice|dicho|respondió|responde|escreveu|escreve|escrito|disse|diz|dito|respondeu|scritto|scrive|scrisse|detto|rispose|risponde|risposto`;
/** The same where words are not parted by blanks: what stands before a colon or a quotation mark. */
const spokenEast = String.raw`(?:写道|寫道|写信说|说道|說道|说|說|表示|回复|回覆|回答|来信|來信|留言|通知|告诉我|告訴我|转告|[问問](?![题題])|と(?:言|い)(?:った|って(?:いた|いました)?|いました)|書(?:いた|いてきた|いています)|返信|返事|伝言|말(?:했어요|했다|했습니다|하기를|씀)|썼(?:어요|다|습니다)|답장|전달)`;
/** A word between a verb of speech and its colon: `to me`, `(host)`, `<m@x.example>`. */
const spokenName = String.raw`[\p{L}\p{N}'’()<>@&-]{1,30}(?:\.[\p{L}\p{N}'’()<>@&-]{1,30}){0,4}`;

/** Who speaks is the user. */
const bySelf = new RegExp(
  anyOf([
    String.raw`(?<![\p{L}'’])(?:i|we|ich|wir|je|j['’]ai|nous(?: avons)?|yo|eu|nós|io|noi)(?:['’](?:ve|d|m))?(?:\s(?:have|had|already|just|also|once|only|always|did|habe|schon|bereits|ai|ho|he|déjà|già|ya|já)){0,3}\s?$`,
    String.raw`(?:^|[^\p{sc=Han}])(?:我|我们|我們|咱们)(?:已经|已經|刚才|剛才|刚|剛|之前|都|也|就|再|先|只|想|要)?$`,
    String.raw`(?:私|僕|俺)(?:は|が)[^、。]{0,6}$|(?:나는|내가|제가|저는)\s?$`,
    String.raw`(?:as|like|wie|wie schon|bereits)\s$`,
  ]),
  'iu',
);

const speechWords = new RegExp(
  String.raw`(?:(?<![\p{L}'’])(?:${spoken})(?![\p{L}'’])(?:\s${spokenName}){0,5}\s?|${spokenEast}[了过過着]?[\p{L}]{0,6}\s?)[:：]`,
  'giu',
);

/** Nobody else speaks in a line without one, unless its marks or a greeting say so. */
const holdsColon = (line: string): boolean => line.includes(':') || line.includes('：');

function endsInColon(line: string): boolean {
  const said = line.trimEnd();
  return said.endsWith(':') || said.endsWith('：');
}

/** Where, in a line, somebody else begins to speak without quotation marks: behind the colon; -1: nowhere. */
function speechStart(line: string): number {
  if (!holdsColon(line)) return -1;
  for (const match of findMatches(line, speechWords))
    if (!bySelf.test(line.slice(Math.max(0, match.index - 40), match.index)))
      return match.index + match[0].length;
  return -1;
}

const speechBefore = new RegExp(
  String.raw`(?:(?<![\p{L}'’])(?:${spoken})(?![\p{L}'’])(?:\s${spokenName}){0,5}[\s,:]{0,3}|${spokenEast}[了过過着]?[，,:：\s]{0,3})$`,
  'iu',
);
const speechBehind = new RegExp(
  String.raw`^[\s,.;!?]{0,3}(?!(?:which|that|who|where|when|and|or|is|are|der|die|das|que|qui|che)(?!\p{L}))(?:(?:${spokenName}\s){0,3}(?:${spoken})(?![\p{L}'’])|(?:と|って)[\p{L}]{0,6}(?:言|い[っう]|書|返|伝|頼|指示)|(?:라고|이라고|고)\s?(?:말|했|하|썼|쓰|적|답)|[，,]?[^。，,\n]{0,8}${spokenEast})`,
  'iu',
);

/** Whether the words around a quotation say that somebody else said it. */
function isOthersSpeech(textBefore: string, textBehind: string): boolean {
  const said = speechBefore.exec(textBefore);
  if (said !== null && !bySelf.test(textBefore.slice(0, said.index))) return true;
  const saidBehind = speechBehind.exec(textBehind);
  return saidBehind !== null && !/^[\s,.;!?]{0,3}(?:i|we|ich|wir|je|yo|eu|io)\s/iu.test(textBehind);
}

/** What somebody wrote, as one speaks of it. */
const writings = String.raw`e-?mail|mail|message|letter|article|text|chat|post|page|document|transcript|review|newsletter|comment|conversation|nachricht|brief|artikel|beitrag|seite|dokument|kommentar|schreiben|gespräch|courriel|lettre|article|texte|avis|commentaire|correo|mensaje|carta|artículo|texto|comentario|mensagem|carta|artigo|comentário|messaggio|lettera|articolo|testo|commento`;
const pointing = String.raw`here(?:['’]s| is| are| comes)|this is|that is|below is|see|i (?:just )?(?:got|received)|the following|following|hier (?:ist|kommt|sind)|das ist|folgende[rns]?|ich habe|voici|voilà|ci-dessous|j['’]ai reçu|aquí (?:está|tienes|va)|este es|esta es|el siguiente|la siguiente|he recibido|aqui (?:está|vai)|este é|esta é|o seguinte|a seguinte|recebi|ecco|questo è|questa è|il seguente|la seguente|ho ricevuto`;
/** Lines that announce a text of somebody else: a mail, a forwarded message, the parts of a chat. */
const announces = new RegExp(
  String.raw`(?:${anyOf([
    String.raw`(?:(?<![\p{L}])(?:her|his|their|its|ihre?|seine?|son|sa|ses|su|sus|sua|seu|suo)\s(?:${spokenName}\s){0,2}(?:e-?mail|mail|message|letter|note|sms|text|chat|reply|answer|nachricht|brief|antwort|courriel|lettre|réponse|correo|mensaje|carta|respuesta|mensagem|resposta|messaggio|lettera|risposta)(?![\p{L}])|(?<![\p{L}])(?:forward(?:ed|ing)?|fwd|weitergeleitete?|transféré|je te transfère|reenviado|reenvío|encaminh(?:o|ada|ado)|inoltr(?:o|ato))(?![\p{L}])|(?:mail|e-?mail|message|letter|nachricht|courriel|correo|mensaje|mensagem|messaggio)\s(?:from|von|de|da|di)\s|转给|轉給|转发|轉發|(?:回|来|來)信|邮件|郵件|転送|メールが|返信が|(?:메일|답장|메시지)(?:이|가|를|을)?)[^:：\n]{0,60}`,
    String.raw`(?<![\p{L}])(?:${pointing})\s(?:${spokenName}\s){0,4}(?:${writings})(?![\p{L}])[^:：\n]{0,60}`,
    String.raw`(?:这是|這是|以下是|下面是|收到)[^:：\n]{0,20}(?:文章|消息|讯息|訊息|信件|内容|內容|文字|短信|聊天)[^:：\n]{0,12}|(?:これは|以下は|次は|届いた)[^:：\n]{0,20}(?:メール|手紙|文章|記事|メッセージ)[^:：\n]{0,12}|(?:이것은|다음은|아래는|받은)[^:：\n]{0,20}(?:메일|편지|글|기사|메시지|문자)[^:：\n]{0,12}`,
  ])})[:：]\s*$`,
  'iu',
);
const announcesPaste = (line: string): boolean => endsInColon(line) && announces.test(line);

/** Who announces what he himself says, or wants kept in mind. */
const ofUserHimself =
  /(?<![\p{L}])(?:i|me|my|mine|we|our|ich|mir|mich|meine?[rsnm]?|wir|unsere?[rsnm]?|je|moi|mon|ma|mes|nous|nos|yo|mí|mis?|nuestr[oa]s?|eu|mim|meus?|minhas?|nós|io|me|mi[oa]|miei|mie|noi|remember|merk\p{L}*|retiens|recuerda|lembra|ricorda)(?![\p{L}])|我|私|僕|俺|나는|나의|내|저는|저의|제가|제\s|기억|记住|記住|覚え/iu;

/** Whether a line ends with a colon and does not announce what the user himself says. */
const announcesMuch = (line: string): boolean => endsInColon(line) && !ofUserHimself.test(line);

const thisText = String.raw`(?:this|that|these|it|the|following|below|diese[snmr]?|das|den|die|folgende[snmr]?|ce|cet|cette|le|la|les|ça|est[eoa]s?|el|los|las|o|a|os|as|quest[oaie]|il|lo|i|gli)`;
/** Asks to work on a text, which stands behind the colon. */
const work = new RegExp(
  anyOf([
    String.raw`(?:^|[.!?,]\s|(?<![\p{L}])(?:please|bitte|por favor|per favore|s['’]il (?:te|vous) plaît|can you|could you|kannst du|peux-tu|puedes|podes|pode|puoi)\s)(?:summari[sz]e|translate|proofread|paraphrase|rewrite|rephrase|übersetze?n?(?: sie)?|fasse?(?: bitte)? (?:zusammen|${thisText})|résumez?|traduis|traduisez|reformulez?|resume|resuma|traduce|traduzca|reescribe|traduz|traduza|reescreva|riassumi|traduci|riscrivi)(?![\p{L}])[^:：\n]{0,60}`,
    String.raw`(?:^|[.!?,]\s|(?<![\p{L}])(?:please|bitte|por favor|per favore|can you|could you|kannst du)\s)(?:correct|explain|check|improve|edit|shorten|polish|analy[sz]e|read|(?:reply|respond) to|korrigiere?|erkläre?|prüfe?|verbessere?|kürze?|lies|beantworte?|corrige|explique|relis|lis|corrija|explica|revisa|lee|revise|leia|lê|correggi|spiega|rivedi|leggi)\s${thisText}(?![\p{L}])[^:：\n]{0,60}`,
    String.raw`(?:总结|總結|概括|翻译|翻譯|润色|潤色|修改|校对|解释|解釋|回复|回覆|分析)[^:：\n]{0,20}|(?:要約|翻訳|校正|添削|説明|返信)して[^:：\n]{0,20}|(?:요약|번역|교정|수정|설명|답장)해[^:：\n]{0,20}`,
  ]).replace(/^(.*)$/su, '(?:$1)(?::(?=\\s|$)|：)'),
  'iu',
);

/** Where, in a line, a text begins that the user asks to work on, behind its colon; -1: nowhere. */
function workStart(line: string): number {
  const found = holdsColon(line) ? work.exec(line) : null;
  if (found === null) return -1;
  const colon = found.index + found[0].length;
  const rest = line.slice(colon);
  return colon + (rest.length - rest.trimStart().length);
}

const mailBreak =
  /^[\s>]{0,20}(?:[-_=*]{2,40}\s{0,3}(?:original|forwarded|ursprüngliche|weitergeleitete|message (?:d'origine|transféré)|mensaje (?:original|reenviado)|mensagem (?:original|encaminhada)|messaggio (?:originale|inoltrato)|原始邮件|原始郵件|转发的?邮件|転送|元のメッセージ|원본 ?(?:메시지|메일)|전달된 ?메시지)[^\n]{0,60}|begin forwarded message\b[^\n]{0,20}|anfang der weitergeleiteten[^\n]{0,30})/iu;
/** The line above a quoted mail: `On 3 March 2026 at 10:00, Marta <m@x.example> wrote:`. */
const mailOpening =
  /^[\s>]{0,20}(?:on|am|le|el|em|il|op)\s[^\n]{0,200}\d[^\n]{0,200}(?:wrote|schrieb[^\n]{0,80}|a écrit|escribió|escreveu|ha scritto)\s?:\s*$|\d{4}[^\n]{0,100}(?:写道|寫道|のメール|님이 (?:작성|썼))[^\n]{0,20}[:：]\s*$/iu;
const opensMail = (line: string): boolean =>
  mailBreak.test(line) || (holdsColon(line) && mailOpening.test(line));

const mailField =
  /^[\s>*]{0,20}(?:from|sent|to|cc|date|subject|reply-to|von|gesendet|an|datum|betreff|de|envoyé|à|objet|enviado|para|asunto|assunto|da|inviato|a|oggetto|发件人|發件人|发送时间|收件人|主题|主旨|差出人|送信日時|宛先|件名|보낸 ?사람|받는 ?사람|날짜|제목)\*{0,2}\s?[:：]/iu;
/** A field of the head of a mail. A journey has `From:` and `To:` as well. */
const isMailField = (line: string): boolean => holdsColon(line) && mailField.test(line);

/** What only mails have in their heads. */
const isSureMailField = (line: string): boolean =>
  mailField.test(line) &&
  /@|^[\s>*]{0,20}(?:sent|subject|reply-to|gesendet|betreff|envoyé|objet|enviado|asunto|assunto|inviato|oggetto|发件人|發件人|发送时间|收件人|主题|主旨|差出人|送信日時|件名|보낸|받는|제목)/iu.test(
    line,
  );

/** A line of an exported chat with its time, or one that says another role speaks. */
const chatLine =
  /^\s*(?:\[\s?(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{2,4})?,?\s)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\s?\]\s?[^:：\n]{1,40}[:：]|\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\s?[-–]\s?[^:：\n]{1,40}[:：]|\[?(?:system|assistant|developer|tool|ai|bot|model)(?: (?:message|prompt|note))?\]?\s?[:：])/iu;
const isChatLine = (line: string): boolean => holdsColon(line) && chatLine.test(line);

const speakerName = /^\s*(?:[-*•]\s)?(\*{0,2}\p{L}[\p{L}'’ .-]{0,24}\*{0,2})\s?[:：]\s?\S/u;

/** Whose name stands before the colon of a line, as in a chat or a form. */
const findSpeaker = (line: string): string | undefined => speakerName.exec(line)?.[1];

/** Letters of scripts without blanks between words count double. */
const wide = new RegExp(`[${unspacedScript}]`, 'gu');

/** About as many characters as the text would have in Latin letters. */
const weightOfText = (text: string): number => text.length + (text.match(wide)?.length ?? 0);

// Letters that are shown

/** No names behind a salutation: what people call the assistant itself, or everybody. */
const nobody = String.raw`(?!(?:there|again|all|friend|buddy|guys|dear|mate|freund|freunde|leute|mon ami|amigos?|amic[oi]|everyone|everybody|assistant|ai|bot|chat|chatbot|gemini|recap|zusammen|nochmal|alle|assistent|à tous|de nouveau|a todos|otra vez|de novo|outra vez|a tutti|di nuovo)(?![\p{L}]))`;
const greetedName = String.raw`\p{L}[\p{L}'’.-]{0,29}(?:\s\p{L}[\p{L}'’.-]{0,29}){0,3}`;
const greetings = String.raw`dear|hi|hello|hey|good (?:morning|afternoon|evening)|liebe[rs]?|sehr geehrte[rs]?|hallo|guten (?:morgen|tag|abend)|moin|chère?s?|bonjour|bonsoir|salut|querid[oa]s?|estimad[oa]s?|hola|buen(?:os|as) (?:días|tardes|noches)|olá|oi|car[oaie]|prezad[oa]s?|bom dia|boa (?:tarde|noite)|gentile|egregi[oa]|ciao|buongiorno|buonasera`;
/** `Hi Tom,`, `Dear Ms Grey:`, `王先生，您好`, `田中様`, `김민수님,`; what follows may stand on the same line. */
const namedGreeting = new RegExp(
  [
    String.raw`^\s*(?:${greetings})\s${nobody}${greetedName}\s?(?:[,:，：]|!?\s*$)`,
    String.raw`^\s*(?:亲爱的|親愛的|尊敬的|敬爱的)[^\n，,：:！!]{1,20}[，,：:！!]`,
    String.raw`^\s*[\p{sc=Han}]{1,4}(?:先生|女士|小姐|老师|老師|经理|經理|总|總)[，,：:\s]{0,2}(?:您好|你好)?[，,：:！!]`,
    String.raw`^\s*[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]{1,12}(?:様|さま|さん|先生|殿)(?:[、，,：:。\s]|へ[、，,：:。\s]?|$)`,
    String.raw`^\s*[\p{sc=Hangul}]{2,8}\s?(?:님|씨|선생님|과장님|부장님|대표님)(?:께)?(?:[,，:：\s]|$)`,
  ]
    .map((source) => `(?:${source})`)
    .join('|'),
  'iu',
);
/** A greeting that stands on its line alone, whomever it greets. */
const greetingLine = new RegExp(
  String.raw`^\s*(?:(?:${greetings})(?:\s${greetedName})?|亲爱的[^\n]{1,20}|尊敬的[^\n]{1,20}|您好|你好|[^\n]{1,16}(?:様|さん|님)|こんにちは|お世話になっております|お世話になります|안녕하세요|안녕하십니까)\s?[,，、:：!！。.]?\s*$`,
  'iu',
);
/** The line with which a letter ends, perhaps with the name behind it. */
const farewellLine =
  /^\s*(?:(?:(?:with )?(?:best|kind|warm|many)\s?(?:regards|wishes)?|kindest regards|regards|sincerely|yours (?:sincerely|faithfully|truly)|cheers|love|mit freundlichen grüßen|(?:viele|liebe|beste|herzliche|freundliche)\s?grüße|gruß|mfg|lg|vg|cordialement|bien cordialement|bien à vous|amicalement|meilleures salutations|un saludo|saludos(?: cordiales)?|atentamente|un abrazo|cumprimentos|atenciosamente|abraços?|com os melhores cumprimentos|cordiali saluti|distinti saluti|un saluto|saluti)(?![\p{L}])[^\n]{0,40}|(?:此致|敬礼|祝好|顺祝商祺|順頌商祺|谨上|敬上)[^\n]{0,20}|(?:敬具|よろしくお願い(?:いた|致)?します|以上)[。\s]*|(?:감사합니다|드림|올림)[.\s]*[^\n]{0,20})\s*$/iu;
/** The name below it. */
const signatureLine = /^\s*[\p{L}][^\n.!?。！？]{0,40}$/u;
const letterAddress = /[\p{L}\p{N}._-]@[\p{L}\p{N}]|https?:|www\.|\b[A-Z]{2}\d{2}[ \dA-Z]{10,30}/u;
/** A line of a letter that is looked at. */
const LETTER_LINE_CHARACTERS = 200;
/** Of what follows a greeting on its line: as far as an address is looked for. */
const OPENING_CHARACTERS = 600;

const greetedIn = (line: string): string | undefined =>
  namedGreeting.exec(line.slice(0, LETTER_LINE_CHARACTERS))?.[0];

/** Whether a line begins with a greeting that names somebody. */
const opensWithName = (line: string): boolean => greetedIn(line) !== undefined;

const isAlone = (line: string): boolean =>
  line.length <= LETTER_LINE_CHARACTERS && greetingLine.test(line);

/** Whether a line may begin a letter. */
const greetsSomebody = (line: string): boolean => opensWithName(line) || isAlone(line);

const isFarewell = (line: string): boolean =>
  line.length <= LETTER_LINE_CHARACTERS && farewellLine.test(line);

/** More than a name, a day or a mark. */
const fullLine =
  /(?:[\p{L}\p{N}'’]{1,40}[^\p{L}\p{N}\]]{1,10}){2}[\p{L}\p{N}]|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{4}/u;
const saysSomething = (line: string): boolean =>
  fullLine.test(line.slice(0, LETTER_LINE_CHARACTERS));

/** Lines of a letter that begins with a greeting: up to the name below its farewell; all where there is none. */
function lengthOf(lines: readonly string[]): number {
  const end = lines.findIndex(isFarewell);
  if (end === -1) return lines.length;
  const below = lines.slice(end + 1, end + 3).findIndex((line) => line.trim() !== '');
  const signed = lines[end + 1 + below] ?? '';
  return below !== -1 && signatureLine.test(signed) ? end + below + 2 : end + 1;
}

/**
 * How many of these lines, from the first on, are a letter that the user shows; 0: none. A greeting that names somebody
 * begins one where it stands alone, where a farewell follows, where something stands before or behind the letter, or where
 * it goes on with an address; a greeting of nobody where a farewell follows and something else stands beside the letter.
 * `isFirst`: nothing stands before these lines. Heuristic: who greets his assistant by a name and signs shows a letter, too.
 */
function letterLines(lines: readonly string[], isFirst: boolean): number {
  const [opening = ''] = lines;
  if (!greetsSomebody(opening)) return 0;
  const greeted = greetedIn(opening);
  const length = lengthOf(lines);
  const isSigned = lines.slice(0, length).some(isFarewell);
  const isBeside = !isFirst || lines.slice(length).some(saysSomething);
  if (greeted === undefined) return isSigned && isBeside ? length : 0;
  const goesOn = lines.slice(1, length).some((line) => line.trim() !== '');
  const isOfLetter =
    isSigned ||
    isBeside ||
    (opening.slice(greeted.length).trim() === '' && goesOn) ||
    letterAddress.test(opening.slice(0, OPENING_CHARACTERS));
  return isOfLetter ? length : 0;
}

const clauseEnd = /[:：.!?。！？]\s+/gu;
/** Where, within a line, a greeting of somebody begins behind other words; -1: nowhere. */
function greetingWithin(line: string): number {
  const short = line.slice(0, OPENING_CHARACTERS);
  for (const { index, 0: border } of findMatches(short, clauseEnd)) {
    const start = index + border.length;
    if (opensWithName(short.slice(start)) && saysSomething(short.slice(0, index))) return start;
  }
  return -1;
}

/** Characters of a paragraph that nobody types below a colon. */
const LONG_PARAGRAPH = 400;

/** Whether a paragraph is too long to be typed. */
function isLongParagraph(lines: readonly string[]): boolean {
  return weightOfText(lines.join(' ')) >= LONG_PARAGRAPH;
}

// The user's own words

/** Shorter quotations are terms: a name, a title, what to put into a field. */
const TERM_WEIGHT = 24;
/** How far from a quotation the words may stand that say whose it is. */
const ATTRIBUTION_CHARACTERS = 120;
/** Of a letter: a longer one ends here. */
const LETTER_LINES = 400;
/** Of a head of a mail. */
const HEAD_LINES = 6;
/** Stands where something was left out, so that no words of two places make one sentence. */
const GAP = '\uFFFC';

interface Reading {
  text: string;
  lines: readonly TextLine[];
  /** Where the quotation ends that begins at a place. */
  quotedFrom: ReadonlyMap<number, number>;
}

/** Behind which line a text ends that the line before `from` announces. */
function pastedEnd({ lines, quotedFrom }: Reading, from: number): number {
  const next = nextFull(lines, from);
  const line = lines[next];
  if (line === undefined) return lines.length;
  // What marks itself ends where its marks end.
  if (isQuotedLine(line) || isFence(line)) return from;
  const closing = quotedFrom.get(line.start + (line.text.length - line.text.trimStart().length));
  if (closing === undefined) return lines.length;
  let last = next;
  while (last < lines.length && (lines[last]?.end ?? 0) < closing) last += 1;
  return last + 1;
}

/** The head of a mail: fields on lines that follow each other. */
function isMailHead(lines: readonly TextLine[], at: number): boolean {
  const head = lines.slice(at, at + HEAD_LINES).map(lineBeginning);
  const other = head.findIndex((line) => !isMailField(line));
  return other !== 0 && other !== 1 && head.length > 1 && head.some(isSureMailField);
}

/** Lines of a chat without times: `Anna: …`, `Ben: …`, `Anna: …`. A form names each field once. */
function isDialogue(lines: readonly TextLine[], at: number, text: string): boolean {
  if (findSpeaker(text) === undefined) return false;
  const speakers = nearParagraph(lines, at).map((line) => findSpeaker(lineBeginning(line)));
  const names = new Set(speakers);
  return !names.has(undefined) && names.size > 1 && names.size < speakers.length;
}

/** A stretch of lines, and the line behind it. */
interface Block {
  start: number;
  next: number;
}

/** What a line announces that ends with a colon, and what stands behind the colon of a line that asks to work on it. */
function announcedBlock(reading: Reading, at: number, line: TextLine): Block | undefined {
  const { lines } = reading;
  const end = line.text.slice(-LINE_CHARACTERS);
  if (announcesPaste(end)) return { start: line.end, next: pastedEnd(reading, at + 1) };
  const next = nextFull(lines, at + 1);
  if (announcesMuch(end) && isLongParagraph(nearParagraph(lines, next).map(({ text }) => text)))
    return { start: line.end, next: paragraphEnd(lines, next) };
  const colon = workStart(lineBeginning(line));
  if (colon === -1) return undefined;
  const start = line.start + colon;
  if (colon >= line.text.length) return { start: line.end, next: pastedEnd(reading, at + 1) };
  // The marks say what is quoted.
  return reading.quotedFrom.has(start) ? undefined : { start, next: paragraphEnd(lines, at) };
}

/** Words of somebody else behind a colon of a line. */
function spokenBlock(reading: Reading, at: number, line: TextLine): Block | undefined {
  if (!holdsColon(line.text)) return undefined;
  const { lines, quotedFrom } = reading;
  const colon = speechStart(line.text);
  if (colon === -1) return announcedBlock(reading, at, line);
  const said = line.text.slice(colon);
  if (said.trim() === '') return { start: line.end, next: pastedEnd(reading, at + 1) };
  const opening = line.start + colon + (said.length - said.trimStart().length);
  // The marks say what is quoted.
  if (quotedFrom.has(opening)) return undefined;
  const isLetter = opensWithName(said) || /[,，、]\s*$/u.test(said.slice(-20));
  return { start: opening, next: isLetter ? lines.length : paragraphEnd(lines, at) };
}

/** A letter that begins at a line, or within it: `What does he want? Hi Tom, …`. */
function letterBlock({ lines }: Reading, at: number, { start, text }: TextLine): Block | undefined {
  const within = greetsSomebody(text) ? 0 : greetingWithin(text);
  if (within === -1) return undefined;
  const isFirst = within === 0 && lines.findIndex(({ text: said }) => saysSomething(said)) >= at;
  const following = lines.slice(at + 1, at + LETTER_LINES).map((line) => line.text);
  const count = letterLines([text.slice(within), ...following], isFirst);
  return count === 0 ? undefined : { start: start + within, next: at + count };
}

function blockAt(reading: Reading, at: number, line: TextLine): Block | undefined {
  const { lines } = reading;
  const { start } = line;
  if (isEmpty(line)) return undefined;
  if (isFence(line)) return { start, next: fenceEnd(lines, at) };
  if (isQuotedLine(line)) return { start, next: at + 1 };
  const short = lineBeginning(line);
  if (opensMail(short)) return { start, next: Math.max(at + 1, pastedEnd(reading, at + 1)) };
  if (isMailHead(lines, at)) return { start, next: lines.length };
  if (isChatLine(short) || isDialogue(lines, at, short))
    return { start, next: paragraphEnd(lines, at) };
  return letterBlock(reading, at, line) ?? spokenBlock(reading, at, line);
}

/** Lines, in order, that are not the user's: quoted with `>`, fenced, mails, parts of chats, "she wrote: …". */
function othersLines(reading: Reading): TextSpan[] {
  const { lines, text } = reading;
  const spans: TextSpan[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const block = line && blockAt(reading, at, line);
    const next = Math.max(at + 1, block?.next ?? 0);
    const end = lines[next - 1]?.end ?? text.length;
    if (block !== undefined && end > block.start) spans.push({ start: block.start, end });
    at = next;
  }
  return spans;
}

/** Ordered, and none within or over another. */
function merged(spans: readonly TextSpan[]): TextSpan[] {
  const all: TextSpan[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = all.at(-1);
    if (last === undefined || span.start > last.end) all.push({ ...span });
    else last.end = Math.max(last.end, span.end);
  }
  return all;
}

function cut(text: string, spans: readonly TextSpan[]): string {
  if (spans.length === 0) return text;
  const ends = [0, ...spans.map(({ end }) => end)];
  const starts = [...spans.map(({ start }) => start), text.length];
  return ends
    .map((end, index) => text.slice(end, starts[index]).trim())
    .filter((part) => part !== '')
    .join(`\n${GAP}\n`);
}

const isOthers = (text: string, { start, end }: TextSpan): boolean =>
  isOthersSpeech(
    text.slice(Math.max(0, start - ATTRIBUTION_CHARACTERS), start),
    text.slice(end, end + ATTRIBUTION_CHARACTERS),
  );

const readingOf = (text: string, quoted: readonly TextSpan[]): Reading => ({
  text,
  lines: [...textLines(text)],
  quotedFrom: new Map(quoted.map(({ start, end }) => [start, end])),
});

/**
 * A text of the user without the lines of others: quoted with `>` (at any depth), in code fences, of mails that were
 * forwarded or replied to, of exported chats, and what stands behind "Marta wrote:". Quotations within his sentences
 * stay. A heuristic for safety in English, German, French, Spanish, Portuguese, Italian, Chinese, Japanese and Korean:
 * where a pasted text ends is not always said, and what the user adds below it is taken for part of it; a pasted text
 * that nothing marks is not told apart. Linear.
 */
export const ownLines = (text: string): string =>
  cut(text, merged(othersLines(readingOf(text, quotedSpans(text)))));

/** A text without what it quotes in marks: speech of others, and more than a term. Linear. */
export function withoutQuotations(text: string): string {
  const spans = quotedSpans(text).filter(
    (span) => weightOfText(text.slice(span.start, span.end)) > TERM_WEIGHT || isOthers(text, span),
  );
  return cut(text, merged(spans));
}

/** The user's own words of a text: no lines, speech and longer quotations of others. Linear. */
export const ownWords = (text: string): string => withoutQuotations(ownLines(text));

// What is taken back at once

/** What people say before they take something back. */
const interjections = anyOf([
  `actually|oh|ah|um|hm+|no|nope|wait|well|sorry|ok|okay|hold on|on second thoughts?|but|and|just|please`,
  `ach|nein|nee|doch|halt|moment|bitte|non|attends|attendez|en fait|finalement|espera|perdón|mejor|não|aspetta|anzi|scusa`,
]);
const takingBackOpening = String.raw`(?:(?:${interjections})(?![\p{L}'’])[\s,.!…–—-]{0,4}){0,5}`;
const takingBackEnding = String.raw`(?=\s*(?:[.,;:!…–—。、]|\s-\s|$))`;
/** Only what can mean nothing else: "ignore it" and "cancel it" may go on with the wish. */
const latinTakingBack = anyOf([
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
const easternTakingBack = anyOf([
  String.raw`(?:(?:やっぱり|やはり|いや|いえ|あ|すみません|ごめん(?:なさい)?)[、。,\s]*){0,3}(?:${japaneseObject}[、\s]*(?:忘れて|無視して|なしで|なしに|取り消|キャンセル)|(?:取り消し|撤回し)ます|なかったことに)[\p{sc=Hiragana}\p{sc=Han}]{0,8}`,
  String.raw`(?:(?:哦|啊|不|不对|不對|等等|其实|其實|还是|還是)[，,\s]*){0,3}(?:算了|当我没说|當我沒說|(?:忘了|忘掉|忽略|取消|收回)(?:刚才|刚刚|剛才|剛剛|上面|前面)(?:说)?的?(?:话|要求|那条|这条)?|(?:刚才|刚刚|剛才|剛剛|上面|前面)(?:说|說)?的?(?:话|要求|那条|这条)?(?:不算|作废|作廢|取消))(?:吧|了|数)?`,
  String.raw`(?:(?:아|아니|아니다|음|잠깐만?|죄송(?:해요|합니다)?)[,.\s]*){0,3}(?:(?:방금|아까|지금)\s?(?:한\s?)?(?:말|거|것|요청)[은는을를]?\s?(?:취소|잊어|무시|없던)|없던 (?:걸로|일로))[가-힣\s]{0,10}`,
]);
/** One of these stands in each of the Latin ones: most texts of plain characters have none. */
const latinStems =
  /forget|scratch|strike|ignore|disregard|never ?mind|take (?:that|it|this) back|mean|verg[ei]s|streich|nehme|oublie|laisse|olvid|esque|dimentica|lascia|detto/i;
const mayTakeBack = (text: string): boolean => !isAscii(text) || latinStems.test(text);

const takingBack = new RegExp(
  `^${takingBackOpening}(?:${latinTakingBack}|${easternTakingBack})${takingBackEnding}`,
  'iu',
);
const onlyOpening = new RegExp(String.raw`^${takingBackOpening}[\s,.!…–—-]*$`, 'iu');
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
  return ends.map((end, index) => text.slice(end, starts[index])).join(` ${GAP} `);
}

// Whole sentences

/** Ends a sentence, and not only a piece of one that was cut for its length. */
const sentenceStop = /[.!?…。！？｡]["'”’»)\]*_」』）]{0,3}$/u;

/** A shorter line was ended by hand. */
const WRAPPED_CHARACTERS = 24;
const lineBreak = /^[ \t]*\r?\n[ \t]*$/;

/**
 * Whether a line was broken for its length: it announces nothing, and the next one goes on in lower case, without a mark of
 * a list, where the sentence began with a capital letter.
 */
function isWrapped(text: string, last: TextSpan, start: number): boolean {
  const lineStart = text.lastIndexOf('\n', last.end - 1) + 1;
  return (
    last.end - lineStart >= WRAPPED_CHARACTERS &&
    lineBreak.test(text.slice(last.end, start)) &&
    !endsInColon(text.slice(lineStart, last.end)) &&
    /^\p{Ll}/u.test(text.slice(start, start + 2)) &&
    /\p{Lu}/u.test(text.slice(last.start, last.start + 2))
  );
}

/** Where the sentences of a text stand; long ones whole, too: half of one may say the opposite. */
function wholeSentences(text: string): TextSpan[] {
  const whole: TextSpan[] = [];
  for (const { start, end } of sentenceSpans(text)) {
    const last = whole.at(-1);
    const goesOn =
      last !== undefined &&
      (!text.slice(last.end, start).includes('\n') || isWrapped(text, last, start)) &&
      !sentenceStop.test(text.slice(Math.max(last.start, last.end - 4), last.end));
    if (goesOn) last.end = end;
    else whole.push({ start, end });
  }
  return whole;
}

/** Whether a sentence shows no words of others, but for quotations within what it says itself. */
function isOwn(text: string, { start, end }: TextSpan, quoted: readonly TextSpan[]): boolean {
  let rest = '';
  let from = start;
  for (const quotation of quoted) {
    const isWithin = quotation.start >= start && quotation.end <= end;
    if (!isWithin || isOthers(text, quotation)) return false;
    rest += text.slice(from, quotation.start);
    from = quotation.end;
  }
  return quoted.length === 0 || /[\p{L}\p{N}]/u.test(`${rest}${text.slice(from, end)}`);
}

/** A sentence of the user, and of a list the line that announces it: `Never do this:` turns its points around. */
export interface OwnSentence extends TextSpan {
  announcement?: TextSpan;
}

/** What a line of a list begins with. */
const listMark = /^[ \t]{0,8}(?:[-*•‣–—・]|\p{Nd}{1,3}[.)、．])/u;

/** Sentences in order, the points of lists with what announces them. Linear. */
function withAnnouncements(text: string, sentences: readonly TextSpan[]): OwnSentence[] {
  let announcement: TextSpan | undefined;
  let lineStart = 0;
  let lineEnd = text.indexOf('\n');
  return sentences.map((sentence) => {
    const { start, end } = sentence;
    while (lineEnd !== -1 && lineEnd < start) {
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf('\n', lineStart);
    }
    const isPoint = listMark.test(text.slice(lineStart, lineStart + 16));
    const isAnnouncement = !isPoint && endsInColon(text.slice(start, end));
    if (isAnnouncement) announcement = sentence;
    else if (!isPoint && start === lineStart) announcement = undefined;
    return isAnnouncement || announcement === undefined ? sentence : { ...sentence, announcement };
  });
}

/**
 * Where the sentences of own lines stand that are the user's: none that is a quotation, a part of one, or tells what
 * somebody else said. Linear.
 */
export function ownSentences(text: string): OwnSentence[] {
  const wellFormed = text.toWellFormed();
  const quoted = merged(quotedSpans(wellFormed));
  let next = 0;
  const own = wholeSentences(wellFormed).flatMap((sentence) => {
    while ((quoted[next]?.end ?? Number.POSITIVE_INFINITY) <= sentence.start) next += 1;
    const over: TextSpan[] = [];
    for (let at = next; (quoted[at]?.start ?? Number.POSITIVE_INFINITY) < sentence.end; at += 1)
      over.push(...quoted.slice(at, at + 1));
    return isOwn(wellFormed, sentence, over) ? [sentence] : [];
  });
  return withAnnouncements(wellFormed, own);
}

// Proposals that are accepted

/** A longer message says more than yes. */
const YES_CHARACTERS = 200;
/** A question of fewer words, such as "Shall I?", asks about what stands before it. */
const PROPOSAL_UNITS = 4;

const beginsWith = (...sources: readonly string[]): RegExp =>
  new RegExp(`^[\\s\\p{P}]*(?:${sources.join('|')})(?![\\p{sc=Latin}])`, 'iu');

/** Answers to a question. */
const yes = beginsWith(
  String.raw`yes|yeah|yep|yup|sure|of course|ok(?:ay)?|right|please|ja|gern(?:e)?|klar|bitte|oui|d'accord|bien s[uû]r|volontiers|s[ií]|claro|vale|por favor|de acuerdo|sim|pode|por favor|sì|certo|va bene|d'accordo|好的?|可以|是的?|行|对|對|はい|ええ|うん|お願いします|네|예|응|그래|좋아`,
);
/** Words that ask to do what was proposed, whether it was a question or not. */
const doThat = beginsWith(
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
