// A phone in the room: shows what is asked and sends what is chosen. All text stays text.

/**
 * @typedef {object} Question
 * @property {number} number
 * @property {string} text
 * @property {[key: string, text: string][]} options
 * @property {string | null} chosen  What this phone has voted for.
 */

const KEY = 2; // the most characters of an option that is written as a key

const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} text */
const say = (text) => {
  part("said").textContent = text;
};

/** @param {string | null} chosen */
function mark(chosen) {
  for (const button of part("options").querySelectorAll("button"))
    button.setAttribute("aria-pressed", `${button.value === chosen}`);
}

/**
 * Send a vote, and say whether it was counted.
 * @param {Question} question
 * @param {string} key
 */
async function vote(question, key) {
  const body = JSON.stringify({ number: question.number, key });
  try {
    const answer = await fetch("vote", { method: "POST", body });
    if (!answer.ok) return say(await answer.text());
    question.chosen = key;
    mark(key);
    say("Your vote is counted.");
  } catch {
    say("Your vote did not arrive. Are you still in the room's network? Choose again.");
  }
}

/** @param {Question | null} question */
function show(question) {
  part("text").textContent = question ? question.text : "Wait for the next question.";
  say("");
  const options = question?.options ?? [];
  part("options").className = options.every(([, text]) => text.length <= KEY) ? "keys" : "";
  part("options").replaceChildren(
    ...options.map(([key, text]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.value = key;
      button.textContent = text;
      button.onclick = () => vote(/** @type {Question} */ (question), key);
      return button;
    }),
  );
  if (question) mark(question.chosen);
}

let shown = -1; // the number of the question; 0 while there is none
const asked = new EventSource("asked");
asked.onmessage = ({ data }) => {
  /** @type {Question | null} */
  const question = JSON.parse(data);
  const number = question?.number ?? 0;
  if (number !== shown) show(question); // else it is sent only to keep the connection
  shown = number;
};
asked.onerror = () => {
  shown = -1;
  say("The lecture cannot be reached. Are you still in the room's network?");
};
