"""The picture: what stands where, and every label within its box."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.report import review
from cdk_trainyard.report.page import DARK, LIGHT, picture_style
from cdk_trainyard.report.picture import _THIN, _wrapped, picture
from tests.report.labels import labels_leaving, letters_ems


def subnet(block: str) -> dict[str, Any]:
    return {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": block, "VpcId": {"Ref": "Vpc"}}}


def thing(kind: str, **properties: Any) -> dict[str, Any]:
    groups = {"SecurityGroupIds": [{"Fn::GetAtt": ["Efa", "GroupId"]}]}
    return {"Type": kind, "Properties": {**groups, **properties}}


RESOURCES = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "Near": subnet("10.0.0.0/24"),
    "Far": subnet("10.0.1.0/24"),
    "Efa": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "Files": thing("AWS::FSx::FileSystem", SubnetIds=[{"Ref": "Near"}], FileSystemType="LUSTRE", StorageCapacity=1200),
    "Cluster": thing(
        "AWS::SageMaker::Cluster", Subnets=[{"Ref": "Near"}, {"Ref": "Far"}], Mount={"Fn::GetAtt": ["Files", "DNSName"]}
    ),
    "Loose": thing("AWS::EC2::Instance", InstanceType="t3.micro"),
    "Data": {"Type": "AWS::S3::Bucket"},
}


@pytest.fixture
def scene(assembly: Any) -> dict[str, Any]:
    return dict(review(assembly(S=RESOURCES))["picture"])


def test_things_stand_in_their_subnets(scene: dict[str, Any]) -> None:
    (network,) = scene["networks"]
    assert (network["title"], network["note"]) == ("VPC S/Vpc", "10.0.0.0/16")
    assert {each["title"]: [card["title"] for card in each["cards"]] for each in network["subnets"]} == {
        "Private subnet S/Near": ["S/Files"],
        "Private subnet S/Far": [],
    }
    assert [card["title"] for card in network["spread"]] == ["S/Cluster", "S/Loose"]
    assert network["spread"][0]["lines"][-1] == "in S/Near and S/Far"
    assert {each["shared"] for each in network["subnets"]} == {"shared with other subnets: S/Cluster"}
    assert [each["title"] for each in scene["stores"]] == ["S/Data"]
    assert scene["arrows"] == [{"from": "S/Cluster", "to": "S/Files", "kind": "mounts"}]


def test_the_picture_is_svg_with_a_title_and_a_description(scene: dict[str, Any]) -> None:
    drawn = ET.fromstring(picture(scene, alone=True, style=picture_style()))  # noqa: S314  we wrote it
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.findtext(f"{space}title") == "Picture of what is deployed in us-west-2"
    assert drawn.findtext(f"{space}desc") == "1 network and 1 store in us-west-2; S/Cluster mounts S/Files."
    texts = [each.text for each in drawn.iter(f"{space}text")]
    assert {"S/Files", "LUSTRE, 1200 GiB", "1 of t3.micro", "S/Data"} <= {*texts}
    height = float(drawn.attrib["viewBox"].split()[3])
    assert all(float(each.attrib["y"]) + float(each.attrib["height"]) <= height for each in drawn.iter(f"{space}rect"))


def test_nothing_to_draw_is_no_picture(assembly: Any) -> None:
    found = review(assembly(S={"Role": {"Type": "AWS::IAM::Role"}}))
    assert found["picture"] is None
    assert picture(found["picture"]) == ""


def test_of_very_many_the_first_are_drawn_and_the_others_counted(assembly: Any) -> None:
    found = review(assembly(S={f"B{number}": {"Type": "AWS::S3::Bucket"} for number in range(100)}))["picture"]
    assert (len(found["stores"]), found["left_out"]) == (40, 60)
    assert "60 more are not drawn" in picture(found)


WIDE = "M" * 70


@pytest.mark.parametrize("name", ["S", WIDE, f"{WIDE}/{'W' * 70}", "\u6a5f" * 50])
def test_every_label_stays_in_its_box(assembly: Any, name: str) -> None:
    called = {key: {**each, "Metadata": {"aws:cdk:path": f"{name}/{key}"}} for key, each in RESOURCES.items()}
    found = review(assembly(S=called))["picture"]
    assert labels_leaving(picture(found, alone=True)) == []
    wider = [{**each, "title": each["title"] * 40} for each in found["networks"]]
    assert labels_leaving(picture({**found, "networks": wider}, alone=True)) == []


def test_a_label_that_leaves_its_box_is_seen() -> None:
    box = '<rect x="0" y="0" width="60" height="20"/>'
    for text, names in (("MMMM", []), ("MMMMMMM", ["MMMMMMM"])):
        label = f'<text x="5" y="14" font-size="12">{text}</text>'
        assert labels_leaving(f'<svg xmlns="http://www.w3.org/2000/svg">{box}{label}</svg>') == names


@given(st.text(max_size=300), st.integers(60, 600))
def test_lines_fit_and_nothing_is_lost(text: str, width: int) -> None:
    lines = [*_wrapped(text, width, 12)]
    assert all(len(line) == 1 or 12 * _THIN * letters_ems(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(
        each for each in text if each.isprintable() and not each.isspace()
    )


def luminance(colour: str) -> float:
    """WCAG 2.2, "relative luminance"."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card", "open"])
@pytest.mark.parametrize("ink", ["text", "quiet", "link", "good", "warn", "bad"])
def test_every_text_stands_out(palette: dict[str, str], ground: str, ink: str) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 at least."""
    light, dark = sorted((luminance(palette[ground]), luminance(palette[ink])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def lanes(found: dict[str, Any]) -> list[float]:
    return [*map(float, re.findall(r'd="M\S+ \S+ H(\S+) V', picture(found)))]


def test_arrows_of_a_card_share_a_lane_and_others_have_their_own(scene: dict[str, Any]) -> None:
    cards = ["S/Cluster", "S/Loose", "S/Files"]
    apart = lanes({**scene, "arrows": [{"from": one, "to": "S/Data", "kind": "reads"} for one in cards]})
    assert all(one < other for one, other in pairwise(apart))
    together = lanes({**scene, "arrows": [{"from": "S/Cluster", "to": to, "kind": "reads"} for to in cards[1:]]})
    assert len({*together}) == 1


def test_arrows_show_which_machines_may_read_which_bucket(assembly: Any) -> None:
    within = {"Fn::Join": ["", [{"Fn::GetAtt": ["Data", "Arn"]}, "/*"]]}
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": within}
    policies = [{"PolicyName": "p", "PolicyDocument": {"Statement": [statement]}}]
    profile = {"IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["Profile", "Arn"]}}}
    launch = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}}, "SubnetId": {"Ref": "Near"}}
    reading = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"Policies": policies}},
        "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}},
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": profile}},
        "Node": {"Type": "AWS::EC2::Instance", "Properties": launch},
        "Other": {"Type": "AWS::S3::Bucket"},
    }
    found = review(assembly(S={**RESOURCES, **reading}))["picture"]
    assert [each for each in found["arrows"] if each["kind"] == "reads"] == [
        {"from": "S/Node", "to": "S/Data", "kind": "reads"}
    ]
    drawn = picture(found)
    assert "S/Node may read S/Data" in drawn
    assert "a role of the machines may read what is stored" in drawn


def test_the_legend_says_what_is_drawn_and_nothing_else(scene: dict[str, Any]) -> None:
    drawn = picture(scene)
    assert 'd="M12 ' in drawn[drawn.rindex("<path") :]
    for said in ("mounts the file system", "what computes", "what keeps data"):
        assert said in drawn
    for said in ("traffic that is let through", "a way into or out of the network", "may read what is stored"):
        assert said not in drawn


def test_where_templates_name_no_region_the_picture_says_so(scene: dict[str, Any], tmp_path: Path) -> None:
    assert ">Region us-west-2<" in picture(scene)
    template = tmp_path / "template.json"
    template.write_text('{"Resources": {"Data": {"Type": "AWS::S3::Bucket"}}}')
    drawn = picture(review(template)["picture"])
    assert ">A Region that the templates do not name<" in drawn
    assert "1 store in a Region that the templates do not name." in drawn


def test_without_networks_stores_stand_at_the_left(assembly: Any) -> None:
    drawn = picture(review(assembly(S={"Data": {"Type": "AWS::S3::Bucket"}}))["picture"])
    assert re.search(r'<text x="12" [^>]*>Stores outside of networks<', drawn)


def test_a_database_stands_in_the_subnets_of_its_group(assembly: Any) -> None:
    group = {"SubnetIds": [{"Ref": "Near"}, {"Ref": "Far"}]}
    properties = {"DBSubnetGroupName": {"Ref": "Group"}, "VPCSecurityGroups": [{"Fn::GetAtt": ["Efa", "GroupId"]}]}
    more = {
        "Group": {"Type": "AWS::RDS::DBSubnetGroup", "Properties": group},
        "Data": {"Type": "AWS::RDS::DBInstance", "Properties": properties},
    }
    found = review(assembly(S={**RESOURCES, **more}))
    card = next(each for each in found["picture"]["networks"][0]["spread"] if each["title"] == "S/Data")
    assert card["lines"] == ["security group S/Efa", "in S/Near and S/Far"]
    assert "S/Data" in {each["what"] for each in found["network"]["members"]}
