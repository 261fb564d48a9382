// A view without knowledge: Python draws the picture and writes every sentence.
function render({ model, el }) {
  el.classList.add("cloze-training");

  const picture = document.createElement("div");
  picture.setAttribute("role", "img");
  const status = document.createElement("p");
  const spoken = document.createElement("p");
  spoken.setAttribute("role", "status");
  spoken.className = "cloze-spoken";
  const button = document.createElement("button");
  button.type = "button";
  // On the focused element itself: JupyterLab asks it first, and "dd" would delete the cell.
  button.dataset.lmSuppressShortcuts = "true";
  button.addEventListener("click", () => {
    model.send({ do: model.get("action") });
  });

  const update = () => {
    picture.innerHTML = model.get("picture");
    picture.setAttribute("aria-label", `Loss curve. ${model.get("status")}`);
    status.textContent = model.get("status");
    spoken.textContent = model.get("announcement");
    button.textContent = model.get("action");
    button.disabled = model.get("action") === "Finished";
  };
  const names = ["picture", "status", "announcement", "action"];
  names.forEach((name) => model.on(`change:${name}`, update));
  update();
  el.replaceChildren(picture, status, spoken, button);
  return () => names.forEach((name) => model.off(`change:${name}`, update));
}

export default { render };
