/** What people say to one another whatever they talk about; as words are folded for a search. */
export const politeWords: ReadonlySet<string> = new Set(
  `thanks thank thx please pls hi hey hello hiya good great nice fine okay ok yes yeah yep yup nope sure sorry bye
  goodbye morning evening night afternoon wow cool awesome amazing haha lol well oh welcome really right glad
  danke bitte hallo tschuss tschuß ja nein gut merci bonjour salut oui non gracias hola adios si bueno vale ciao grazie
  obrigado obrigada ola`.split(/\s+/u),
);

const THANKS =
  /(?<!\p{L})(?:thanks?|thx|cheers|(?:good)?bye|good ?night|danke|tschüss|merci|gracias|adi[oó]s|grazie|obrigad[oa])(?!\p{L})|ありがとう|おやすみ|[谢謝][谢謝]|再[见見]|晚安|감사|고마워/iu;

/** Whether a text thanks or takes leave: where it says nothing else, nothing is asked. */
export const isThanks = (text: string): boolean => THANKS.test(text);
