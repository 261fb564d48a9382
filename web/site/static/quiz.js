// The questions of a page, as `sheet(…, folded=True)` of cloze/widgets/quiz.py writes them: every
// explanation stands there, hidden, and shows itself when its option is chosen.
for (const quiz of document.querySelectorAll(".living-quiz .quiz")) {
  const forms = [...quiz.querySelectorAll("form")];
  const status = quiz.querySelector("[role=status]");
  const restart = quiz.querySelector('[data-do="restart"]');

  const explanation = (radio) => radio.closest("div").querySelector(".explanation");
  const chosen = () => forms.map((form) => form.querySelector(":checked")).filter(Boolean);

  const show = (announcement) => {
    for (const radio of quiz.querySelectorAll("[type=radio]"))
      explanation(radio).hidden = !radio.checked;
    const answers = chosen();
    const right = answers.filter((radio) => explanation(radio).matches(".right"));
    const spoken = status.querySelector(".spoken");
    spoken.textContent = `${announcement} `;
    spoken.nextSibling.data =
      `${forms.length} questions: ${answers.length} answered, ${right.length} right.`;
    restart.setAttribute("aria-disabled", !answers.length);
  };

  quiz.addEventListener("change", ({ target }) => {
    const said = explanation(target).textContent.replace(/^[✓✗] /, "");
    show(`Question ${target.dataset.withQuestion}, (${target.value}): ${said}`);
  });
  restart.addEventListener("click", () => {
    for (const radio of chosen()) radio.checked = false;
    show("All answers are cleared.");
  });
  for (const form of forms) form.addEventListener("submit", (event) => event.preventDefault());
  show(""); // a browser may have kept what was chosen before the page was left
}
