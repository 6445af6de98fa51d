/* Forms of English words that no ending tells, beside the form that they are looked for by. */

const ROWS = `
be been being|become became|begin began begun|bite bit bitten|blow blew blown|break broke broken|bring brought
build built|buy bought|catch caught|choose chose chosen|come came|deal dealt|dig dug|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten
give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept
know knew known|lead led|lend lent|leave left|lose lost|make made|mean meant|meet met|pay paid
ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent
shake shook shaken|shine shone|shoot shot|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck|strike struck|swim swam swum
take took taken|teach taught|tell told|think thought|throw threw thrown|understand understood
wake woke woken|wear wore worn|win won|write wrote written
child children|foot feet|goose geese|knife knives|leaf leaves|life lives|man men|mouse mice|person people
shelf shelves|tooth teeth|wife wives|wolf wolves|woman women`;

/** Base form of each irregular one; both in lower case. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  ROWS.split(/[|\n]/u).flatMap((row) => {
    const [base = '', ...forms] = row.split(' ');
    return forms.map((form) => [form, base] as const);
  }),
);
